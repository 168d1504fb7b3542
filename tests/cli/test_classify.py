"""Tests `gonie classify`: every input and output format on a toy model with known answers."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from gonie.runtime.bundle import write_bundle

Gonie = Callable[..., Any]


@pytest.fixture(scope="module")
def reviews(tmp_path_factory: pytest.TempPathFactory, text_bundle: Any) -> Path:
    folder = tmp_path_factory.mktemp("reviews")
    write_bundle(folder / "bundle", text_bundle(recipe={"data": {"text_column": "review"}}))
    return folder


@pytest.fixture(scope="module")
def multi_label(tmp_path_factory: pytest.TempPathFactory, text_bundle: Any) -> Path:
    folder = tmp_path_factory.mktemp("multi-label")
    write_bundle(folder / "bundle", text_bundle(multi_label=True))
    return folder


def test_a_text_is_shown_with_every_score(gonie: Gonie, reviews: Path) -> None:
    outcome = gonie("classify", reviews, "good")
    assert (outcome.code, outcome.out) == (0, "positive  0.982\nnegative  0.018\n"), outcome.err


def test_each_input_line_gets_one_output_line_in_order(gonie: Gonie, reviews: Path, tmp_path: Path) -> None:
    for name, line in {"b": "bad", "a": "good\n\nbad"}.items():
        (tmp_path / name).write_text(f"{line}\n")
    outcome = gonie("classify", reviews, "--file", tmp_path / "b", "--file", tmp_path / "a")
    assert outcome.code == 0, outcome.err
    assert [line.split("  ")[0] for line in outcome.out.splitlines()] == [
        "negative 0.982",
        "positive 0.982",
        "negative 0.500",
        "negative 0.982",
    ]
    assert outcome.out.splitlines()[0] == "negative 0.982  bad"


def test_standard_input_is_classified_as_jsonl(gonie: Gonie, reviews: Path) -> None:
    outcome = gonie("classify", reviews, "--output", "jsonl", stdin="good\nbad 한글\n".encode())
    first, second = map(json.loads, outcome.out.splitlines())
    assert first == {
        "text": "good",
        "label": "positive",
        "score": 0.982014,
        "scores": {"negative": 0.017986, "positive": 0.982014},
    }
    assert (second["text"], second["label"]) == ("bad 한글", "negative")


def test_the_suffix_of_a_file_selects_its_format(gonie: Gonie, reviews: Path, tmp_path: Path) -> None:
    """A JSON object read as plain text would also get a label, so the mistake would go unnoticed."""
    contents = {"one.jsonl": '{"review": "good"}', "two.tsv": "id\treview\n1\tbad", "three.txt": "good"}
    for name, content in contents.items():
        (tmp_path / name).write_text(f"{content}\n", "utf-8")
    files = [part for name in contents for part in ("--file", tmp_path / name)]
    outcome = gonie("classify", reviews, *files)
    assert outcome.out.splitlines() == ["positive 0.982  good", "negative 0.982  bad", "positive 0.982  good"]
    assert gonie("classify", reviews, "--input", "text", "--file", tmp_path / "one.jsonl").out.count("{") == 1


def test_jsonl_output_keeps_the_other_keys_of_the_input(gonie: Gonie, reviews: Path) -> None:
    """Users match answers to their rows by an id, so the id must be in the output."""
    rows = [{"id": 7, "review": "bad", "who": {"name": "Ana"}}, {"review": "good", "label": "gold"}]
    given = "\n\n".join(json.dumps(row) for row in rows).encode()
    outcome = gonie("classify", reviews, "--input", "jsonl", "--output", "jsonl", stdin=given)
    one, other = map(json.loads, outcome.out.splitlines())
    assert list(one) == ["id", "review", "who", "label", "score", "scores"]
    assert (one["id"], one["who"], one["label"]) == (7, {"name": "Ana"}, "negative")
    assert other["label"] == "positive"


def test_a_multi_label_model_lists_all_its_labels(gonie: Gonie, multi_label: Path) -> None:
    (record,) = map(
        json.loads, gonie("classify", multi_label, "good bad", "--output", "jsonl").out.splitlines()
    )
    assert record["labels"] == ["negative", "positive"]
    assert (
        gonie("classify", multi_label, stdin=b"good bad").out == "negative 0.881  positive 0.881  good bad\n"
    )


@pytest.mark.parametrize(("kind", "apart"), [("tsv", "\t"), ("csv", ",")])
def test_tables_are_read_by_the_text_column_of_the_recipe(
    gonie: Gonie, reviews: Path, tmp_path: Path, kind: str, apart: str
) -> None:
    rows = [("id", "review", "label"), ("1", "good", "?"), ("2", " ", "?"), ("3", "bad", "?")]
    path = tmp_path / "table"
    path.write_text("".join(apart.join(row) + "\n" for row in rows))
    outcome = gonie("classify", reviews, "--input", kind, "--file", path)
    assert outcome.out == "positive 0.982  good\nnegative 0.982  bad\n"
    assert "skipped 1 row with an empty text" in outcome.err


def test_marks_are_read_as_in_training(gonie: Gonie, tmp_path: Path, text_bundle: Any) -> None:
    write_bundle(tmp_path / "b", text_bundle(recipe={"data": {"marks": ["e1"]}}))
    outcome = gonie("classify", tmp_path / "b", "the <e1>film</e1> bad", "--output", "jsonl")
    record = json.loads(outcome.out)
    assert (record["text"], record["label"]) == ("the film bad", "positive")
    outcome = gonie("classify", tmp_path / "b", stdin=b"good\nthe <e1>film bad\n")
    assert outcome.refused("standard input:2: unpaired mark")


def test_truncated_texts_are_reported_once(gonie: Gonie, tmp_path: Path, text_bundle: Any) -> None:
    write_bundle(tmp_path / "b", text_bundle(upper=True, max_sentences=1))
    outcome = gonie("classify", tmp_path / "b", stdin=b"good. bad.\ngood. bad. bad.\ngood\n")
    assert outcome.out.count("positive") == 3
    assert outcome.err == "note: texts cut to 1 sentences: 2 texts\n"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--input", "xml"], "--input xml is not supported. Use auto, text, jsonl, tsv, csv, parquet"),
        (["--output", "xml"], "--output xml is not supported. Use pretty, jsonl"),
        (["good", "--file", "x"], "TEXT and --file cannot be combined"),
        (
            ["good", "--input", "tsv"],
            "--input tsv cannot be combined with TEXT",
        ),
        (["{", "--input", "jsonl"], "TEXT:1: invalid JSON object"),
        (['{"text": "x"}', "--input", "jsonl"], "TEXT:1: no key 'review'"),
        (["ab\udcff"], "lone surrogate"),
        (["--file", "nothing.txt"], "nothing.txt: file not found"),
    ],
)
def test_invalid_arguments_are_refused_with_a_message(
    gonie: Gonie, reviews: Path, arguments: list[str], message: str
) -> None:
    assert gonie("classify", reviews, *arguments).refused(message)


def test_a_model_of_another_task_is_refused_with_the_right_command(
    gonie: Gonie, reviews: Path, toy_run: Path
) -> None:
    assert gonie("tag", reviews, "good").refused("is a classifier; use gonie classify")
    assert gonie("classify", toy_run, "good").refused("is a tagger; use gonie tag")


@pytest.mark.skipif(os.name != "posix", reason="needs a pseudo-terminal")
def test_progress_on_a_terminal_does_not_change_the_results(reviews: Path, tmp_path: Path) -> None:
    (tmp_path / "many.txt").write_text("good film\n" * 2_000)
    program = "import gonie.cli.views.progress as p\np.DELAY = 0.0\n"
    program += "from gonie.cli.main import main\nmain()"
    terminal, side = os.openpty()
    with open(tmp_path / "out", "wb") as out:
        done = subprocess.run(
            [sys.executable, "-c", program, "classify", reviews, "--file", str(tmp_path / "many.txt")],
            stdout=out,
            stderr=side,
            env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path), "TERM": "xterm"},
            check=False,
        )
    os.close(side)
    shown = os.read(terminal, 1 << 16)
    os.close(terminal)
    assert done.returncode == 0
    assert (tmp_path / "out").read_text().count("positive 0.881  good film\n") == 2_000
    assert b"tokens" in shown


def test_an_unquoted_text_of_two_words_is_refused(gonie: Gonie, reviews: Path) -> None:
    """Without quotes, the shell passes each word as an argument of its own."""
    assert gonie("classify", reviews, "good", "film").refused(
        "expected one TEXT, got 2. Quote a text that has spaces", "one per line on standard input"
    )


@pytest.mark.parametrize(
    ("line", "kind"), [("text,label", "csv"), ("id\tsentence\tcategory", "tsv"), ("review;sentiment", "csv")]
)
def test_a_table_on_standard_input_is_not_read_as_lines_of_text(
    gonie: Gonie, reviews: Path, line: str, kind: str
) -> None:
    outcome = gonie("classify", reviews, stdin=f"{line}\ngood,pos\n".encode())
    assert outcome.refused()
    assert f"the first line seems to be the header of a table: {line!r}. Pass --input {kind}" in outcome.err
    assert gonie("classify", reviews, "--input", "text", stdin=f"{line}\n".encode()).code == 0
