"""Tests the command line with invalid or unusual input, models, settings and output paths.

A command either works correctly or exits with status 2 and a clear message. It never prints a traceback, and
existing files are never lost. ``refused`` takes words that the message must contain.
"""

from __future__ import annotations

import gzip
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch

from gonie.formats.tagged import TaggedSource
from gonie.tasks.tagging.torch import files as tag_files

Command = Callable[..., Any]
"""Calls the command line and returns the ``Outcome`` of conftest.py."""

BAD: dict[str, tuple[bytes, str]] = {
    "empty": (b"", "the file is empty"),
    "blank lines": (b"\n\n  \n\t\n", "no sentences in the file"),
    "comments": (b"# nothing\n# here\n\n", "no sentences in the file"),
    "NUL": (b"a\tO\nb\0\tO\n", ":2: NUL byte in a text file"),
    "Latin-1": ("a\tO\ncafé\tO\n".encode("latin-1"), ":2: invalid UTF-8: 0xe9"),
    "UTF-16": ("a\tO\nb\tO\n".encode("utf-16"), "UTF-16"),
    "noise": (bytes(range(128, 256)) * 9, ":1: invalid UTF-8"),
    "mixed tabs and blanks": (b"a\tO\nb c\nd\tO\ne\tO\n", ":2: expected 2 columns separated by tabs"),
    "ragged": (b"a\tx\tO\nb\tO\nc\tx\tO\n", ":2: expected 3 columns"),
}
COMMANDS = ["train", "evaluate", "check", "stats", "convert"]


@pytest.fixture
def using(gonie: Command, toy: Path, toy_run: Path, tmp_path: Path) -> Command:
    """Return a function that runs a command on a file."""

    def call(command: str, file: Path, *more: str) -> Any:
        out = tmp_path / "out"
        arguments: dict[str, list[str | Path]] = {
            "train": ["train", toy / "toy.toml", "--set", f"data.train={file}", "--set", "train.epochs=1"],
            "evaluate": ["evaluate", toy_run, file],
            "check": ["data", "check", file],
            "stats": ["data", "stats", file],
            "convert": ["data", "convert", file, "--to", "jsonl"],
        }
        place = {"train": ["--out", out / "run"], "convert": ["--out", out / "converted.jsonl"]}
        out.mkdir(exist_ok=True)
        ended = gonie(*arguments[command], *place.get(command, []), *more)
        if ended.code:
            assert not list(out.iterdir()), "a refused command leaves nothing half-made"
        return ended

    return call


@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.parametrize("kind", BAD)
def test_an_invalid_file_is_refused_and_stays_unchanged(
    using: Command, kind: str, command: str, tmp_path: Path
) -> None:
    content, told = BAD[kind]
    file = tmp_path / "file.conll"
    file.write_bytes(content)
    ended = using(command, file)
    assert ended.refused()
    assert told in (ended.out if command == "check" else ended.err)
    assert str(file) in ended.out + ended.err
    assert file.read_bytes() == content


@pytest.mark.parametrize("command", COMMANDS)
def test_a_path_that_is_not_a_readable_file_is_refused(using: Command, command: str, tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    (tmp_path / "broken.conll.gz").write_bytes(gzip.compress(b"a\tO\n" * 99)[:-20])
    os.symlink(tmp_path / "loop", tmp_path / "loop")
    for name, told in {
        "folder": "got a folder",
        "missing.conll": "file not found",
        "missing/file.conll": "does not exist either",
        "folder/../broken.conll.gz": "damaged compressed file",
        "loop": "symbolic links",
        "x" * 300: "name too long",
    }.items():
        ended = using(command, tmp_path / name)
        assert ended.refused()
        assert told in ended.out + ended.err


# --- columns and tags ------------------------------------------------------------------------------------


def write(path: Path, text: str) -> Path:
    path.write_text(text, "utf-8")
    return path


@pytest.fixture
def columns(tmp_path: Path) -> Path:
    """Write a file with three columns: words, parts of speech, entities."""
    rows = "Anna NNP B-PER\nlives VBZ O\nin IN O\nSeoul NNP B-LOC\n\n"
    return write(tmp_path / "three.conll", rows * 12)


def test_a_tag_column_out_of_range_is_refused(using: Command, columns: Path) -> None:
    """The message names the valid columns."""
    for number in ("7", "-4"):
        told = "Use 0 to 2, or -1 to -3"
        assert using("train", columns, "--set", f"data.tag_column={number}").refused(told, str(columns))
        assert using("evaluate", columns, "--tag-column", number).refused(told)
        assert using("stats", columns, "--tag-column", number).refused(told)
        assert using("convert", columns, "--tag-column", number).refused(told)
        assert told in using("check", columns, "--tag-column", number).out


def test_a_column_of_plain_labels_is_trained_but_not_scored_as_entities(
    using: Command, columns: Path
) -> None:
    """Parts of speech are valid labels for training, but an entity model cannot be scored on them."""
    assert using("evaluate", columns, "--tag-column", "1").refused("the model's tags are", "NNP")
    assert using("evaluate", columns, "--tag-column", "0").refused("column 0 is the column of the words")
    assert using("evaluate", columns, "--tag-column", "upos").refused("is not a number")
    assert using("stats", columns, "--tag-column", "1").code == 0
    assert using("train", columns, "--set", "data.tag_column=1").code == 0


def test_a_file_without_tags_is_refused_by_train_and_evaluate(using: Command, tmp_path: Path) -> None:
    file = write(tmp_path / "words.conll", "Anna\nlives\n\nhere\n")
    assert using("train", file).refused(":1: sentence without tags")
    assert using("evaluate", file).refused(":1: sentence without gold tags")
    assert using("check", file).code == 0


INVALID = "Anna\tI-PER\nsaw\tO\nSeoul\tB-LOC\nLima\tI-PER\n\nBert\tB-PER\nsaw\tO\nOslo\tB-LOC\n\n" * 5


def test_invalid_tags_are_refused_or_repaired_by_the_chosen_policy(using: Command, tmp_path: Path) -> None:
    """A refusal names the first invalid tag; a repair prints the number of changes."""
    file = write(tmp_path / "invalid.conll", INVALID)
    scheme = ["--set", "data.scheme=IOB2"]
    strict = [*scheme, "--set", "data.repair=error"]
    assert using("train", file, *strict).refused(f"{file}:1: I-PER", "--set data.repair=begin")
    assert using("convert", file, "--repair", "error").refused(
        "invalid", "tags in the file", "--repair begin"
    )
    converted = using("convert", file)
    assert "repaired 10 tags with policy 'begin'" in converted.out
    shutil.rmtree(tmp_path / "out")
    for policy in ("begin", "outside"):
        trained = using("train", file, *scheme, "--set", f"data.repair={policy}")
        assert trained.code == 0
        assert f"repaired 10 tags with policy '{policy}'" in trained.out
        assert f"{file}:1: I-PER" in trained.out
        shutil.rmtree(tmp_path / "out")
        assert using("convert", file, "--repair", policy).code == 0
        shutil.rmtree(tmp_path / "out")
    assert using("train", file, "--set", "data.repair=guess").refused(
        "data.repair", "'error', 'begin' or 'outside'"
    )
    assert using("convert", file, "--repair", "guess").refused("guess")
    assert using("evaluate", file).code == 0  # invalid gold tags are scored as they are
    assert using("evaluate", file, "--mode", "strict").code == 0


def test_labels_not_in_the_training_data_are_reported(using: Command, toy: Path, tmp_path: Path) -> None:
    """They cannot be predicted, so they are listed with a count and scored as misses."""
    strange = write(tmp_path / "strange.conll", "Anna\tB-ANIMAL\nruns\tO\n\nSeoul\tB-LOC\nis\tO\n")
    for split in ("dev", "test"):
        trained = using("train", toy / "train.conll", "--set", f"data.{split}={strange}")
        assert trained.code == 0
        assert f"1 label in {split} is not in the training data" in trained.out
        assert "ANIMAL (1)" in trained.out
        shutil.rmtree(tmp_path / "out")
    scored = using("evaluate", strange, "--json", str(tmp_path / "scores.json"))
    assert scored.code == 0
    assert json.loads((tmp_path / "scores.json").read_text())["types"]["ANIMAL"]["recall"] == 0.0


def test_gold_without_entities_can_be_scored(using: Command, tmp_path: Path) -> None:
    """A file in which every tag is O is valid for any entity model."""
    assert using("evaluate", write(tmp_path / "nothing.conll", "it\tO\nrains\tO\n\n")).code == 0


# --- unusual but valid -----------------------------------------------------------------------------------

STRANGE = {
    "one token": "Anna\tB-PER\n",
    "a byte order mark and CRLF": "\ufeffAnna\tB-PER\r\nruns\tO\r\n\r\n" * 9,
    "huge words": f"{'a' * 100_000}\tB-PER\n{'가' * 100_000}\tO\n\nb\tO\n\n" * 3,
    "one character words": "".join(f"{chr(0x4E00 + i)}\t{'O' if i % 9 else 'B-X'}\n\n" for i in range(300)),
    "controls and marks": "\x1b[31m\tO\n\u202e\u200b\tB-PER\n[bold]\tO\n\n" * 9,
}


@pytest.mark.parametrize("kind", STRANGE)
def test_unusual_but_valid_files_work_with_every_command(
    using: Command, gonie: Command, kind: str, tmp_path: Path
) -> None:
    """A model is trained, exported, scored and used, even if there is almost nothing to learn."""
    file = write(tmp_path / "file.conll", STRANGE[kind])
    trained = using("train", file, "--set", "train.epochs=1")
    assert trained.code == 0, trained.err
    run = tmp_path / "out/run"
    assert gonie("evaluate", run, file, "--html", tmp_path / "report.html").code == 0
    assert gonie("tag", run, "Anna lives here.").code == 0
    for command in ("check", "stats"):
        assert using(command, file).code == 0
    shutil.rmtree(tmp_path / "out")
    assert using("convert", file).code == 0


@pytest.mark.parametrize("tag", ["O", "X", "_"])
def test_a_file_with_one_tag_is_not_trained_on(using: Command, tag: str, tmp_path: Path) -> None:
    """Its model would score 100.00 and find nothing."""
    file = write(tmp_path / "file.conll", f"a\t{tag}\nb\t{tag}\n\nc\t{tag}\n\n" * 9)
    assert using("train", file).refused(f"every token has the tag {tag}", "--set data.tag_column=N")


@pytest.mark.long
def test_a_sentence_of_100_000_tokens_is_trained_and_tagged(
    using: Command, gonie: Command, toy: Path, tmp_path: Path
) -> None:
    """It is split for training and tagged in windows; both are reported, and every token gets a tag."""
    rows = ["Anna\tB-PER\n", "saw\tO\n", "Seoul\tB-LOC\n", "and\tO\n"] * 25_000
    file = write(tmp_path / "long.conll", "".join(rows))
    dev = f"data.dev={toy / 'dev.conll'}"
    trained = using("train", file, "--set", "train.batch_tokens=8000", "--set", dev)
    assert trained.code == 0, trained.err
    assert "1 sentences longer than 1000 tokens were split" in trained.out
    words = ["--file", file, "--input", "conll", "--output", "conll"]
    tagged = gonie("tag", tmp_path / "out/run", *words)
    assert tagged.code == 0
    assert tagged.out == "".join(rows) + "\n"
    assert "100,000 tokens without a sentence end: scored in" in tagged.err
    for command in ("check", "stats"):
        assert using(command, file).code == 0


# --- text to tag -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("output", ["pretty", "conll", "jsonl"])
@pytest.mark.parametrize(
    "text",
    [
        "",
        " ",
        "\t \u3000",
        "x",
        ".",
        "a" * 100_000,
        "👩‍👩‍👧 \u0301 \u202e",
        "[bold]red[/]",
        "\x1b[2J",
        "\x00",
        "1e9 " * 3000,
    ],
    ids=["empty", "blank", "blanks", "x", "dot", "huge", "marks", "markup", "escape", "NUL", "many"],
)
def test_any_text_is_tagged(gonie: Command, toy_run: Path, text: str, output: str) -> None:
    ended = gonie("tag", toy_run, text, "--output", output)
    assert ended.code == 0
    if output == "jsonl":
        record = json.loads(ended.out)
        assert all(text[t["start"] : t["end"]] == t["text"] for t in record["tokens"])
    elif output == "pretty":
        assert "\x1b[2J" not in ended.out


JSONL = {
    '{"text": "\\ud800 x"}': "surrogate",
    "[1, 2]": "expected a JSON object, got a list",
    '{"txt": "x"}': "no key 'text'",
    '{"text": 7}': "expected a string under 'text', got a number",
    '{"text": "x"': "invalid JSON object",
    "[" * 100_000: "invalid JSON object",
    "1" * 10_000: "invalid JSON object",
}


@pytest.mark.parametrize("line", JSONL, ids=range(len(JSONL)))
def test_invalid_json_lines_are_refused_with_their_number(
    gonie: Command, toy_run: Path, tmp_path: Path, line: str
) -> None:
    file = write(tmp_path / "file.jsonl", f'{{"text": "Anna"}}\n{line}\n')
    told = JSONL[line]
    assert gonie("tag", toy_run, "--file", file, "--input", "jsonl").refused(told, "2")
    assert gonie("evaluate", toy_run, file).refused()
    assert gonie("data", "stats", file).refused(":2:")


def test_tag_refuses_unreadable_input_and_unknown_formats(
    gonie: Command, toy_run: Path, tmp_path: Path
) -> None:
    (tmp_path / "latin").write_bytes("café\n".encode("latin-1"))
    for kind in ("text", "tokens", "conll", "jsonl"):
        assert gonie("tag", toy_run, "--file", tmp_path, "--input", kind).refused("got a folder")
        assert gonie("tag", toy_run, "--file", tmp_path / "none", "--input", kind).refused("file not found")
        assert gonie("tag", toy_run, "--file", tmp_path / "latin", "--input", kind).refused(
            ":1: invalid UTF-8"
        )
        assert gonie("tag", toy_run, "--input", kind, stdin=b"a\0b\n").refused("standard input:1:", "NUL")
    assert gonie("tag", toy_run, "x", "--input", "pdf").refused("--input pdf")
    assert gonie("tag", toy_run, "x", "--output", "pdf").refused("--output pdf")
    assert gonie("tag", toy_run, "x", "--file", tmp_path / "latin").refused("TEXT and --file")
    assert gonie("tag", toy_run, "x", "--input", "conll").refused(
        "--input conll cannot be combined with TEXT"
    )
    assert gonie("tag", toy_run, stdin=b"").code == 0


# --- models ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("command", ["tag", "evaluate"])
def test_a_path_without_a_model_is_refused(gonie: Command, toy: Path, tmp_path: Path, command: str) -> None:
    begun = tmp_path / "begun"
    begun.mkdir()
    write(begun / "recipe.toml", "")
    for model, told in {
        tmp_path / "missing": "folder not found",
        tmp_path: "neither bundle.json nor bundle/",
        toy / "train.conll": "got a file",
        begun: "--resume",
    }.items():
        assert gonie(command, model, toy / "test.conll").refused(str(model), told)


@pytest.mark.parametrize("name", ["bundle.json", "model.onnx", "weights.safetensors"])
def test_a_damaged_bundle_is_refused(
    gonie: Command, toy: Path, toy_run: Path, tmp_path: Path, name: str
) -> None:
    """Holds for each file of the bundle, loaded as a bundle or as a run folder."""
    shutil.copytree(toy_run, tmp_path / "run")
    file = tmp_path / "run/bundle" / name
    whole = file.read_bytes()
    for damaged in (b"", whole[:9], whole[: len(whole) // 2], whole[:-2], whole[::-1], b"{}", b"[]", b"null"):
        file.write_bytes(damaged)
        assert gonie("tag", tmp_path / "run", "Anna").refused(name)
        assert gonie("evaluate", tmp_path / "run/bundle", toy / "test.conll").refused()
    file.unlink()
    assert gonie("tag", tmp_path / "run", "Anna").refused()
    file.mkdir()
    assert gonie("tag", tmp_path / "run", "Anna").refused(name)


def test_a_bundle_with_values_of_a_wrong_type_is_refused(
    gonie: Command, toy_run: Path, tmp_path: Path
) -> None:
    """Each key of bundle.json is replaced by values of other types."""
    shutil.copytree(toy_run, tmp_path / "run")
    file = tmp_path / "run/bundle/bundle.json"
    index = json.loads(file.read_text("utf-8"))
    for key in index:
        for value in (None, 7, "x", [], {}, [[]], {"x": "y"}):
            if type(value) is type(index[key]) and key in ("gonie", "model", "scores", "recipe"):
                continue  # informational keys: nothing depends on them
            if value == index[key] or (key == "temperature" and value == 7):
                continue  # a valid value
            file.write_text(json.dumps({**index, key: value}), "utf-8")
            assert gonie("tag", tmp_path / "run", "Anna").refused(), (key, value)


def test_a_damaged_list_of_seen_mentions_is_refused(
    gonie: Command, toy: Path, toy_run: Path, tmp_path: Path
) -> None:
    shutil.copytree(toy_run, tmp_path / "run")
    for content in ("", "{", "[]", "null", '{"x": 1}'):
        write(tmp_path / "run/seen.json", content)
        assert gonie("evaluate", tmp_path / "run", toy / "test.conll").refused("seen.json")


# --- recipes ---------------------------------------------------------------------------------------------


def test_all_problems_of_a_recipe_are_reported_at_once(gonie: Command, toy: Path, tmp_path: Path) -> None:
    settings = [
        "train.epoch=3",
        "model.encoder.hidden=-1",
        "train.lr=fast",
        "data.train=none",
        "train",
        "=3",
        "task.x=1",
    ]
    options = [part for setting in settings for part in ("--set", setting)]
    refused = gonie("train", toy / "toy.toml", "--out", tmp_path / "run", *options)
    assert refused.refused(
        "did you mean 'epochs'", "model.encoder.hidden", "train.lr", "data.train", "key=value"
    )
    assert not (tmp_path / "run").exists()


RECIPES = {
    "not TOML": "task = ",
    "empty": "",
    "no model": '[data]\ntrain = "x"\n',
    "a list": "[[data]]\ntrain = 1\n",
    "numbers": "data = 1\nmodel = 2\ntrain = 3\n",
    "nothing to read": '[data]\ntrain = "x"\n[model]\n',
    "deep": "a." * 2000 + "b = 1",
}


@pytest.mark.parametrize("kind", RECIPES)
def test_an_invalid_recipe_is_refused_with_its_name(gonie: Command, tmp_path: Path, kind: str) -> None:
    recipe = write(tmp_path / "bad.toml", RECIPES[kind])
    assert gonie("train", recipe, "--out", tmp_path / "run").refused("bad.toml")
    assert gonie("train", recipe, "--out", tmp_path / "run", "--set", "model.words.width=3").refused()


def test_a_path_that_is_not_a_recipe_is_refused(gonie: Command, toy: Path, tmp_path: Path) -> None:
    (tmp_path / "latin.toml").write_bytes('task = "é"'.encode("latin-1"))
    for name, told in {
        "nerr": "Did you mean ner?",
        "": "gonie recipes lists all recipes",
        "../x": "recipe file not found: ../x",
        str(tmp_path): "is a folder, not a recipe",
    }.items():
        assert gonie("train", name, "--out", tmp_path / "run").refused(told)
    assert gonie("train", tmp_path / "latin.toml", "--out", tmp_path / "run").refused("invalid TOML")
    assert gonie("train", toy / "train.conll", "--out", tmp_path / "run").refused("not a recipe")
    assert not (tmp_path / "run").exists()


SETTINGS = {
    "model.encoder.hidden=1000000000": "memory",
    "model.words.width=100000000000000": "memory",
    "train.device=cuda": "PyTorch finds no CUDA GPU",
    "train.device=tpu": "train.device",
    "train.lr=1e37": "the loss became",
    "train.lr=nan": "train.lr",
    "train.seed=-1": "train.seed",
    "train.epochs=0": "train.epochs",
    "data.holdout=1.5": "data.holdout",
    "data.train=a\\u0000b": "file not found",
    "data.vectors=none/such": "file not found",
    "data.format=pdf": "unknown format",
    "data.separator=|": "columns are not separated by",
    "data.scheme=XYZ": "XYZ",
    "data.word_column=9": "no word column 9",
    "data.columns.pos=9": "pos",
    "data.unit=syllable": "unit",
    "model.encoder.kind=gru": "model.encoder.kind",
    'model.head.direct=["gazetteer"]': "gazetteers",
    "model.words=none": "the model has no input",
}


@pytest.mark.parametrize("setting", SETTINGS)
def test_an_invalid_setting_is_refused_and_leaves_no_folder(
    gonie: Command, toy: Path, tmp_path: Path, setting: str
) -> None:
    """No folder is left, so that the user can run the command again with the same --out."""
    if setting == "train.device=cuda" and torch.cuda.is_available():
        pytest.skip("there is a GPU")
    out = tmp_path / "run"
    assert gonie("train", toy / "toy.toml", "--out", out, "--set", setting).refused(SETTINGS[setting])
    assert not out.exists()


def test_a_loss_that_explodes_leaves_nothing_to_resume(gonie: Command, toy: Path, tmp_path: Path) -> None:
    """A model with nan weights is never saved, and the message suggests a lower learning rate."""
    train = ["train", toy / "toy.toml", "--out", tmp_path / "run", "--set", "train.lr=1e37"]
    assert gonie(*train).refused("the loss became", "--set train.lr=")
    assert gonie(*train, "--resume").refused("is not a run folder")
    assert gonie("tag", tmp_path / "run", "Anna").refused("folder not found")


# --- word vectors and gazetteers -------------------------------------------------------------------------

VECTORS = {
    "a broken line": ("Anna 1 2 3\nSeoul 1 2\nLima 1 2 3\n", ":2: expected"),
    "a word for a number": ("Anna 1 2 3\nSeoul 1 x 3\n", ":2: number 2 after the word"),
    "nan": ("Anna 1 2 3\nSeoul 1 nan 3\n", ":2: number 2 after the word"),
    "words alone": ("Anna\nSeoul\n", ":1: not a file of word vectors"),
    "empty": ("", "the file is empty"),
    "binary": ("\x00\x01\x02" * 50, "not a file of word vectors"),
}


def test_invalid_vector_files_are_refused(using: Command, toy: Path, tmp_path: Path) -> None:
    for kind, (text, told) in VECTORS.items():
        file = write(tmp_path / "vectors.txt", text)
        ended = using("train", toy / "train.conll", "--set", f"data.vectors={file}")
        assert ended.refused(str(file), told), kind
    for place in (tmp_path, tmp_path / "none"):
        assert using("train", toy / "train.conll", "--set", f"data.vectors={place}").refused(str(place))


def test_vectors_of_width_one_are_accepted(using: Command, toy: Path, tmp_path: Path) -> None:
    file = write(tmp_path / "vectors.txt", "Anna 1\nSeoul -1\nlives 0.5\n")
    assert using("train", toy / "train.conll", "--set", f"data.vectors={file}").code == 0


def test_invalid_gazetteers_are_refused(using: Command, toy: Path, tmp_path: Path) -> None:
    direct = ["--set", 'model.head.direct=["gazetteer"]']
    (tmp_path / "latin").write_bytes("Köln\n".encode("latin-1"))
    write(tmp_path / "empty", "\n\n")
    for name, told in {
        "none": "file not found",
        ".": "got a folder",
        "latin": ":1: invalid UTF-8",
        "empty": "no entries",
    }.items():
        place = tmp_path / name
        assert using("train", toy / "train.conll", "--set", f"data.gazetteers.city={place}", *direct).refused(
            told
        )


# --- files that disappear, and streams -------------------------------------------------------------------


def test_a_file_deleted_during_training_is_reported(
    using: Command, toy: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Training reads its file more than once, and the file may be deleted in between."""
    file = Path(shutil.copy(toy / "train.conll", tmp_path / "mine.conll"))

    def survey_and_lose(source: TaggedSource) -> Any:
        found = survey(source)
        file.unlink()
        return found

    survey = tag_files.survey
    monkeypatch.setattr(tag_files, "survey", survey_and_lose)
    assert using("train", file).refused(str(file), "file not found")


def test_a_stream_in_place_of_a_file_is_refused(
    using: Command, toy: Path, toy_run: Path, tmp_path: Path
) -> None:
    """``<(zcat train.conll.gz)`` can be read only once, but the commands read their file twice."""
    for command in ("train", "evaluate", "stats", "convert"):
        reading, writing = os.pipe()
        with os.fdopen(writing, "wb") as pipe:
            pipe.write((toy / "test.conll").read_bytes())
        assert using(command, Path(f"/dev/fd/{reading}")).refused(
            "read more than once, so it cannot be a stream"
        )
        os.close(reading)


# --- paths that cannot be written ------------------------------------------------------------------------


def contents(folder: Path) -> dict[str, bytes]:
    return {str(p.relative_to(folder)): p.read_bytes() for p in sorted(folder.rglob("*")) if p.is_file()}


def test_train_does_not_overwrite_existing_files(
    gonie: Command, toy: Path, toy_run: Path, tmp_path: Path
) -> None:
    """Refuses an existing run, a folder with a file that a run would write, and a file as --out."""
    train = ["train", toy / "toy.toml", "--set", "train.epochs=1", "--out"]
    before = contents(toy_run)
    assert gonie(*train, toy_run).refused("already contains a run", "--resume")
    assert contents(toy_run) == before
    for name in ("report.html", "metrics.jsonl", "encoding.json"):
        mine = tmp_path / f"mine {name}"
        mine.mkdir()
        write(mine / name, "precious")
        assert gonie(*train, mine).refused(f"would overwrite: {name}")
        assert contents(mine) == {name: b"precious"}
    assert gonie(*train, toy / "train.conll").refused("is a file, not a folder")


def test_other_files_in_the_output_folder_are_kept(gonie: Command, toy: Path, tmp_path: Path) -> None:
    write(tmp_path / "notes.txt", "precious")
    assert gonie("train", toy / "toy.toml", "--set", "train.epochs=1", "--out", tmp_path).code == 0
    assert (tmp_path / "notes.txt").read_text() == "precious"


@pytest.mark.parametrize("place", ["{file}/run", "/proc/gonie/run", "/dev/null/run", "{folder}/" + "x" * 300])
def test_an_output_path_that_cannot_be_created_is_refused(
    gonie: Command, toy: Path, toy_run: Path, tmp_path: Path, place: str
) -> None:
    file = write(tmp_path / "file", "precious")
    out = place.format(file=file, folder=tmp_path)
    assert gonie("train", toy / "toy.toml", "--out", out).refused(out)
    assert gonie("evaluate", toy_run, toy / "test.conll", "--json", out).refused(out)
    assert gonie("evaluate", toy_run, toy / "test.conll", "--html", out).refused(out)
    assert gonie("data", "convert", toy / "test.conll", "--to", "jsonl", "--out", out).refused(out)
    assert gonie("evaluate", toy_run, toy / "test.conll", "--json", tmp_path).refused("it is a folder")
    assert contents(tmp_path) == {"file": b"precious"}


# --- checks that need a new process ----------------------------------------------------------------------


def in_a_process(*command: str | bytes | Path, code: str = "") -> subprocess.CompletedProcess[str]:
    program = ["-c", f"{code}; from gonie.cli.main import main; main()"] if code else ["-m", "gonie"]
    return subprocess.run(
        [sys.executable, *program, *command], capture_output=True, text=True, check=False, errors="replace"
    )


@pytest.fixture
def odd_name(toy: Path, tmp_path: Path) -> bytes:
    """Copy a file to a name in Latin-1, which is not valid UTF-8."""
    name = os.fsencode(tmp_path) + b"/caf\xe9.conll"
    shutil.copy(toy / "test.conll", name)
    return name


def refused_for_utf8(ended: subprocess.CompletedProcess[str]) -> bool:
    assert "Traceback" not in ended.stderr
    return ended.returncode == 2 and "UTF-8" in ended.stderr


def test_file_names_that_are_not_utf8_work_and_such_text_is_refused(
    odd_name: bytes, toy_run: Path, tmp_path: Path
) -> None:
    """A file with such a name is read like any other."""
    assert in_a_process("data", "stats", odd_name).returncode == 0
    assert refused_for_utf8(in_a_process("tag", toy_run, b"caf\xe9"))
    assert len(os.listdir(tmp_path)) == 1


@pytest.mark.long
def test_commands_that_store_names_refuse_names_that_are_not_utf8(
    odd_name: bytes, toy: Path, toy_run: Path, tmp_path: Path
) -> None:
    recipe = toy / "toy.toml"
    assert in_a_process("evaluate", toy_run, odd_name).returncode == 0
    for arguments in (
        ("train", recipe, "--set", b"data.train=" + odd_name, "--out", tmp_path / "run"),
        ("train", recipe, "--out", odd_name + b".run"),
        ("tag", toy_run, b"caf\xe9", "--input", "tokens"),
    ):
        assert refused_for_utf8(in_a_process(*arguments)), arguments
    assert len(os.listdir(tmp_path)) == 1


def test_training_without_pytorch_names_the_extra_to_install(
    toy: Path, toy_run: Path, tmp_path: Path
) -> None:
    """The core install has no PyTorch, but it is enough for tagging."""
    hidden = "import sys; sys.modules.update(dict.fromkeys(['torch', 'onnx', 'psutil', 'tomli_w', 'numba']))"
    refused = in_a_process("train", toy / "toy.toml", "--out", tmp_path / "run", code=hidden)
    assert refused.returncode == 2
    assert "pip install 'gonie[train]'" in refused.stderr
    assert "Traceback" not in refused.stderr
    assert in_a_process("tag", toy_run, "Anna lives in Seoul .", code=hidden).returncode == 0
