"""Tests `gonie tag`: every input and output format on a toy model with known answers."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import typer
from onnx import TensorProto, helper, numpy_helper
from typer.testing import CliRunner

from gonie.cli.tag import tag
from gonie.errors import GonieError, InputError
from gonie.features.encoding import Encoding, count
from gonie.runtime.bundle import write_bundle
from gonie.tasks.tagging.bundle import TagBundle
from gonie.tasks.tagging.document_view import Colors, pretty
from gonie.text.normalize import Normalization
from gonie.text.schemes import PLAIN, Scheme
from gonie.text.tokenizers import tokenizer
from gonie.text.types import Document, Sentence, Span

ENTITIES = {"George": "S-PER", "New": "B-LOC", "York": "E-LOC", "sleeps": "O"}
PARTS = {"George": "PROPN", "sleeps": "VERB", ".": "PUNCT"}


def toy_bundle(wanted: dict[str, str], scheme: Scheme) -> TagBundle:
    """Build a model that looks up the tag of each word in a table."""
    sentence = Sentence(words=tuple(wanted), tags=tuple(wanted.values()))
    normalization = Normalization(lowercase=False, digits=False)
    encoding = Encoding.fit(
        count([sentence], normalization=normalization, jamo=False, extractors=[]),
        scheme=scheme,
        normalization=normalization,
        jamo=False,
        extractors=[],
        min_count=1,
        min_feature_count=1,
    )
    size = len(encoding.labels)
    table = np.zeros((len(encoding.words), size), np.float32)
    table[:, encoding.label_ids.get("O", 0)] = 4.0
    for word, label in wanted.items():
        table[encoding.word_id(word), encoding.label_ids[label]] = 8.0
    graph = helper.make_graph(
        [helper.make_node("Gather", ["table", "words"], ["scores"])],
        "look-up",
        [helper.make_tensor_value_info("words", TensorProto.INT64, ["B", "T"])],
        [helper.make_tensor_value_info("scores", TensorProto.FLOAT, ["B", "T", size])],
        [numpy_helper.from_array(table, "table")],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=8)
    return TagBundle(
        encoding=encoding,
        tokenizer=tokenizer(language="en", unit="word").to_json(),
        graph=bytes(model.SerializeToString()),
        transitions=np.zeros((size, size), np.float32),
        start=np.zeros(size, np.float32),
        end=np.zeros(size, np.float32),
    )


@pytest.fixture(scope="module")
def ner(tmp_path_factory: pytest.TempPathFactory) -> str:
    folder = tmp_path_factory.mktemp("ner")
    write_bundle(folder / "bundle", toy_bundle(ENTITIES, Scheme(kind="BIOES")))
    return str(folder)


@pytest.fixture(scope="module")
def pos(tmp_path_factory: pytest.TempPathFactory) -> str:
    folder = tmp_path_factory.mktemp("pos")
    write_bundle(folder / "bundle", toy_bundle(PARTS, PLAIN))
    return str(folder)


def run(*arguments: str, stdin: str = "") -> str:
    app = typer.Typer()
    app.command()(tag)
    result = CliRunner().invoke(app, list(arguments), input=stdin, catch_exceptions=False)
    assert result.exit_code == 0, result.output
    return result.stdout


def test_a_text_is_shown_with_its_labels(ner: str) -> None:
    shown = run(ner, "Hello George , see New York .")
    assert shown == "Hello [George PER 0.98] , see [New York LOC 1.00] .\n"


def test_plain_labels_are_shown_after_each_token(pos: str) -> None:
    assert run(pos, "George sleeps.") == "George/PROPN sleeps/VERB ./PUNCT\n"


def test_bias_and_decode_change_what_is_found(ner: str) -> None:
    text = "Hello George , see New York ."
    assert run(ner, text, "--bias", "-60") == f"{text}\n"
    assert run(ner, text, "--bias", "PER=-60") == "Hello George , see [New York LOC 1.00] .\n"
    assert run(ner, text, "--bias", "PER=-60", "--bias", "LOC=1", "--decode", "posterior") == (
        "Hello George , see [New York LOC 1.00] .\n"
    )
    assert run(ner, "Hello", "--bias", "9").startswith("[Hello ")


@pytest.mark.parametrize(
    ("bias", "message"), [("PER=much", "TYPE=NUMBER"), ("PERSON=1", "LOC, PER"), ("nan", "must be finite")]
)
def test_an_invalid_bias_is_refused(ner: str, bias: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        run(ner, "George", "--bias", bias)


def test_nbest_lists_taggings_with_their_differences(ner: str) -> None:
    """Each sentence has its own list, best first, with the tags that differ from the best tagging."""
    shown = run(ner, "--nbest", "2", "--input", "tokens", stdin="George sleeps\nNew York\n")
    assert shown == (
        "  1.   98.10%  [George PER] sleeps\n"
        "  2.    1.80%  George sleeps  (George: S-PER → O)\n"
        "\n"
        "  1.   99.96%  [New York LOC]\n"
        "  2.    0.03%  New York  (New: B-LOC → O, York: E-LOC → O)\n"
        "\n"
    )


def test_nbest_shows_tiny_probabilities_in_scientific_notation(ner: str) -> None:
    *_, fourth, _ = run(ner, "New York", "--nbest", "4").splitlines()
    assert fourth.startswith("  4. 6.1e-04%  [New PER] York"), "4 + 0 for O and S-PER, not 8 + 8: e^-12"


def test_nbest_works_with_plain_labels(pos: str) -> None:
    best, second, _, *none = run(pos, "George sleeps", "--nbest", "2").splitlines()
    assert not none
    assert best.endswith("%  George/PROPN sleeps/VERB")
    assert second.endswith("%  George/PROPN sleeps/PROPN  (sleeps: VERB → PROPN)")


def test_nbest_of_a_short_sentence_lists_all_its_taggings(ner: str) -> None:
    record = json.loads(run(ner, "George", "--nbest", "100", "--output", "jsonl"))
    (candidates,) = record["nbest"]
    assert {candidate["tags"][0] for candidate in candidates} == {"O", "S-PER", "S-LOC"}
    assert sum(candidate["score"] for candidate in candidates) == pytest.approx(1, abs=1e-5)
    assert candidates[0] == {
        "score": record["tokens"][0]["score"],
        "tags": ["S-PER"],
        "spans": [{"start": 0, "end": 6, "label": "PER", "text": "George"}],
    }


def test_jsonl_has_the_nbest_taggings_of_each_sentence(ner: str) -> None:
    lines = run(ner, "--nbest", "2", "--output", "jsonl", stdin="New York. George\n\n").splitlines()
    two, none = map(json.loads, lines)
    best = [candidates[0] for candidates in two["nbest"]]
    assert [candidate["tags"] for candidate in best] == [["B-LOC", "E-LOC", "O"], ["S-PER"]]
    assert [span["start"] for candidate in best for span in candidate["spans"]] == [0, 10]
    assert none["nbest"] == []
    assert run(ner, "--nbest", "2", stdin="\n") == "\n"


def test_each_line_of_standard_input_gives_one_line(ner: str) -> None:
    lines = run(ner, stdin="nothing\n\nGeorge\n").splitlines()
    assert lines[:2] == ["nothing", ""]
    assert lines[2].startswith("[George PER")


def test_files_are_tagged_in_the_given_order(ner: str, tmp_path: Path) -> None:
    for name in ("b", "a"):
        (tmp_path / name).write_text(f"{name} George\n")
    shown = run(ner, "--file", str(tmp_path / "b"), "--file", str(tmp_path / "a"), "--output", "jsonl")
    assert [json.loads(line)["text"] for line in shown.splitlines()] == ["b George", "a George"]


def test_jsonl_has_offsets_of_spans_and_tokens(ner: str) -> None:
    record = json.loads(run(ner, "In New York.", "--output", "jsonl"))
    (span,) = record["spans"]
    score = span.pop("score")
    assert span == {"start": 3, "end": 11, "label": "LOC", "text": "New York"}
    assert 0.9 < score <= 1
    assert [(t["text"], t["start"], t["end"], t["tag"]) for t in record["tokens"]] == [
        ("In", 0, 2, "O"),
        ("New", 3, 6, "B-LOC"),
        ("York", 7, 11, "E-LOC"),
        (".", 11, 12, "O"),
    ]


def test_conll_output_is_always_iob2(ner: str) -> None:
    assert run(ner, "New York. George", "--output", "conll") == (
        "New\tB-LOC\nYork\tI-LOC\n.\tO\n\nGeorge\tB-PER\n\n"
    )


def test_tokens_are_kept_as_given(ner: str) -> None:
    shown = run(ner, "--input", "tokens", "--output", "conll", stdin="New  York don't\n\nGeorge\n")
    assert shown == "New\tB-LOC\nYork\tI-LOC\ndon't\tO\n\nGeorge\tB-PER\n\n"


def test_conll_output_can_have_the_morphemes(tmp_path: Path) -> None:
    pytest.importorskip("kiwipiepy")
    toy = toy_bundle({"꽃": "S-PER", "을": "O"}, Scheme(kind="BIOES"))
    korean = tokenizer(language="ko", unit="morpheme").to_json()
    write_bundle(tmp_path / "bundle", replace(toy, tokenizer=korean))
    assert run(str(tmp_path), "예쁜 꽃을", "--output", "conll", "--morphemes") == (
        "예쁜\t예쁘/VA+ㄴ/ETM\tO\n꽃\t꽃/NNG\tB-PER\n을\t을/JKO\tO\n\n"
    )
    with pytest.raises(InputError, match="not with the tokens of the input"):
        run(str(tmp_path), "꽃 을", "--input", "tokens", "--output", "conll", "--morphemes")


def test_morphemes_are_refused_where_there_are_none(ner: str) -> None:
    with pytest.raises(InputError, match="not with the unit 'word'"):
        run(ner, "George", "--output", "conll", "--morphemes")
    with pytest.raises(
        InputError, match=r"--output conll and a model of Korean morphemes\. .* of such a model"
    ):
        run(ner, "George", "--morphemes")


def test_conll_input_is_tagged_again(ner: str, tmp_path: Path) -> None:
    (tmp_path / "x.conll").write_text("New\tO\nYork\tO\n\nGeorge\tB-LOC\n")
    shown = run(ner, "--input", "conll", "--output", "conll", "--file", str(tmp_path / "x.conll"))
    assert shown == "New\tB-LOC\nYork\tI-LOC\n\nGeorge\tB-PER\n\n"


def test_each_jsonl_record_gives_one_record(ner: str) -> None:
    given = '{"text": "George"}\n\n{"text": "", "id": 3}\n'
    records = [
        json.loads(line)
        for line in run(ner, "--input", "jsonl", "--output", "jsonl", stdin=given).splitlines()
    ]
    assert [record["text"] for record in records] == ["George", ""]
    assert [len(record["spans"]) for record in records] == [1, 0]


def test_long_sentences_are_noted_on_standard_error(ner: str) -> None:
    app = typer.Typer()
    app.command()(tag)
    result = CliRunner().invoke(app, [ner, "--input", "tokens"], input="a " * 1500 + "\n" + "b " * 1200)
    assert result.stderr.count("overlapping windows of 512") == 2
    assert "2 sentences were scored in overlapping windows" in result.stderr
    assert "windows" not in result.stdout


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            ["--input", "xml"],
            "--input xml is not supported. Use auto, text, tokens, jsonl, conll, tsv, csv, parquet",
        ),
        (["--output", "xml"], "--output xml is not supported. Use pretty, conll, jsonl"),
        (["George", "--file", "x"], "TEXT and --file cannot be combined"),
        (
            ["George", "--input", "conll"],
            "--input conll cannot be combined with TEXT",
        ),
        (["{", "--input", "jsonl"], "TEXT:1: invalid JSON object"),
        (["[]", "--input", "jsonl"], "TEXT:1: expected a JSON object, got a list"),
        (["ab\udcff"], "lone surrogate"),
        (["--file", "nothing.txt"], "nothing.txt: file not found"),
        (["George", "--nbest", "0"], "--nbest must be between 1 and 100: 0"),
        (["George", "--nbest", "101"], "--nbest must be between 1 and 100: 101"),
        (["George", "--nbest", "2", "--output", "conll"], "--output conll, which has one tag per word"),
        (["George", "--nbest", "2", "--bias", "1"], "cannot be combined with --bias"),
        (["George", "--nbest", "2", "--decode", "posterior"], "cannot be combined with --decode posterior"),
    ],
)
def test_invalid_arguments_are_refused_with_a_message(ner: str, arguments: list[str], message: str) -> None:
    with pytest.raises(InputError) as refused:
        run(ner, *arguments)
    assert message in str(refused.value)


@pytest.mark.parametrize("command", ["tag", "embed"])
def test_a_text_in_several_arguments_is_refused_with_its_quoted_form(
    gonie: Callable[..., Any], command: str, tmp_path: Path
) -> None:
    out = ["--out", tmp_path / "x.npz"]
    refused = gonie(command, "runs/x", "Anna", "isn't", "here", *out)
    assert refused.refused("Quote the text: 'Anna isn'\"'\"'t here'")


def test_a_missing_model_folder_is_refused(tmp_path: Path) -> None:
    with pytest.raises(GonieError, match="folder not found"):
        run(str(tmp_path / "nowhere"), "George")


def test_control_characters_in_a_text_are_replaced() -> None:
    document = Document(
        text="\x1b[2J Eve\x07", spans=(Span(start=5, end=9, label="PER", text="Eve\x07", score=0.5),)
    )
    assert pretty(document, Scheme(), Colors()).plain == "\ufffd[2J [Eve\ufffd PER 0.50]"


def test_a_label_keeps_its_colour() -> None:
    colors = Colors()
    first = colors["PER"]
    assert colors["LOC"] != first
    assert colors["PER"] == first


@pytest.mark.skipif(os.name != "posix", reason="needs a pseudo-terminal")
def test_progress_on_a_terminal_does_not_change_the_results(ner: str, tmp_path: Path) -> None:
    (tmp_path / "many.txt").write_text("George sleeps .\n" * 2_000)
    program = "import gonie.cli.views.progress as p\np.DELAY = 0.0\n"
    program += "from gonie.cli.main import main\nmain()"
    terminal, side = os.openpty()
    with open(tmp_path / "out", "wb") as out:
        done = subprocess.run(
            [sys.executable, "-c", program, "tag", ner, "--file", str(tmp_path / "many.txt")],
            stdout=out,
            stderr=side,
            env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path), "TERM": "xterm"},
            check=False,
        )
    os.close(side)
    shown = os.read(terminal, 1 << 16)
    os.close(terminal)
    assert done.returncode == 0
    assert (tmp_path / "out").read_text().count("[George PER 0.98] sleeps .\n") == 2_000
    assert b"tokens" in shown


def test_a_closed_pipe_prints_no_error(ner: str, tmp_path: Path) -> None:
    """`gonie tag … | head -1` must neither print a traceback nor hang."""
    (tmp_path / "many.txt").write_text("George sleeps in New York .\n" * 20_000)
    program = (
        f"{sys.executable} -c 'from gonie.cli.main import main; main()' tag {ner} --file {tmp_path}/many.txt"
    )
    env = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    done = subprocess.run(
        f"{program} | head -1", shell=True, capture_output=True, text=True, env=env, check=False
    )
    assert done.stdout.startswith("[George PER")
    assert done.stderr == ""


def tag_process(model: str, *arguments: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-m", "gonie", "tag", model, *arguments],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
    )


def test_each_line_of_a_pipe_is_answered_before_the_next_one_comes(ner: str) -> None:
    """Programs talk to `gonie tag` line by line; waiting for more input would block both sides."""
    with tag_process(ner) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        for line in ("George sleeps .", "York", "New York"):
            process.stdin.write(line + "\n")
            process.stdin.flush()
            assert process.stdout.readline().strip()
        process.stdin.close()
        assert process.stdout.read() == ""
        assert process.wait() == 0


def test_an_invalid_line_of_a_pipe_ends_the_command_after_the_answers_before_it(ner: str) -> None:
    with tag_process(ner, "--input", "jsonl", "--output", "conll") as process:
        out, err = process.communicate('{"text": "George"}\n{"text": \n{"text": "York"}\n')
    assert out == "George\tB-PER\n\n"
    assert "invalid JSON object" in err
    assert "Traceback" not in err
    assert process.returncode == 2


def test_many_lines_of_a_pipe_are_all_answered_in_order(ner: str) -> None:
    lines = [("George sleeps .", "York")[n % 3 == 0] for n in range(25_000)]
    with tag_process(ner, "--output", "jsonl") as process:
        out, _ = process.communicate("".join(f"{line}\n" for line in lines))
    assert [json.loads(line)["text"] for line in out.splitlines()] == lines


def test_a_text_that_is_the_name_of_a_file_is_not_tagged(
    gonie: Callable[..., Any], ner: str, tmp_path: Path
) -> None:
    """`gonie tag MODEL data.conll` would tag the path."""
    file = tmp_path / "my data.txt"
    file.write_text("George sleeps .\n")
    assert gonie("tag", ner, file).refused("TEXT is the name of a file", f"--file '{file}'")
    assert gonie("tag", ner, "--file", file).out == "[George PER 0.98] sleeps .\n"


def test_tables_are_read_by_column_and_their_cells_come_back(
    gonie: Callable[..., Any], toy_run: Path, tmp_path: Path
) -> None:
    table = tmp_path / "mail.csv"
    table.write_text('id,body\n007,"Anna lives in Seoul, now."\n8,it rains\n', "utf-8")
    outcome = gonie("tag", toy_run, "--file", table, "--column", "body", "--output", "jsonl")
    assert outcome.code == 0, outcome.err
    first, second = map(json.loads, outcome.out.splitlines())
    assert (first["id"], first["body"], first["text"]) == ("007", *["Anna lives in Seoul, now."] * 2)
    assert second["id"] == "8"
    assert gonie("tag", toy_run, "--file", table).refused("no column text in the header: id, body")
    table.write_text("ham,Anna lives in Seoul\nspam,it rains\n", "utf-8")
    refused = gonie("tag", toy_run, "--file", table)
    assert refused.refused("Without a header, give its number to --column, from 0")
    outcome = gonie("tag", toy_run, "--file", table, "--column", "1", "--output", "jsonl")
    assert [json.loads(line)["text"] for line in outcome.out.splitlines()] == [
        "Anna lives in Seoul",
        "it rains",
    ]


def test_files_of_texts_and_of_sentences_may_be_mixed(
    gonie: Callable[..., Any], toy_run: Path, tmp_path: Path
) -> None:
    (tmp_path / "a.txt").write_text("Anna left.\n", "utf-8")
    (tmp_path / "b.conll").write_text("It\tO\nrains\tO\n\nSeoul\tB-LOC\n\n", "utf-8")
    (tmp_path / "c.jsonl").write_text('{"text": "Done."}\n', "utf-8")
    files = [part for name in ("a.txt", "b.conll", "c.jsonl") for part in ("--file", tmp_path / name)]
    outcome = gonie("tag", toy_run, *files, "--output", "jsonl")
    assert outcome.code == 0, outcome.err
    assert [json.loads(line)["text"] for line in outcome.out.splitlines()] == [
        "Anna left.",
        "It rains",
        "Seoul",
        "Done.",
    ]


def test_json_objects_on_standard_input_are_recognised(ner: str) -> None:
    """The braces and keys would be tagged."""
    shown = run(ner, "--output", "jsonl", stdin='{"id": 7, "text": "George"}\n')
    assert json.loads(shown)["id"] == 7


def test_offsets_in_utf16(ner: str) -> None:
    (span,) = json.loads(run(ner, "🙂 George", "--output", "jsonl", "--offsets", "utf16"))["spans"]
    assert (span["start"], span["end"]) == (3, 9)
    assert run(ner, "George", "--output", "jsonl", "--offsets", "utf16") == run(
        ner, "George", "--output", "jsonl"
    )


@pytest.mark.parametrize("output", [[], ["--output", "pretty"], ["--output", "conll"]])
def test_offsets_are_refused_where_none_are_written(ner: str, output: list[str]) -> None:
    shown = output[-1] if output else "pretty"
    with pytest.raises(InputError, match=f"--offsets utf16 cannot be combined with --output {shown}"):
        run(ner, "George", "--offsets", "utf16", *output)
