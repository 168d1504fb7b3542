"""Tests `gonie classify` with a pair model: two texts, lines, tables, JSON, and bulk output."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from gonie.runtime.bundle import write_bundle

Gonie = Callable[..., Any]


@pytest.fixture(scope="module")
def labels(tmp_path_factory: pytest.TempPathFactory, pair_bundle: Any) -> Path:
    folder = tmp_path_factory.mktemp("labels") / "nli"
    recipe = {"data": {"text_columns": ["premise", "hypothesis"], "label_column": "label"}}
    write_bundle(folder / "bundle", pair_bundle(recipe=recipe))
    return folder


@pytest.fixture(scope="module")
def values(tmp_path_factory: pytest.TempPathFactory, pair_bundle: Any) -> Path:
    folder = tmp_path_factory.mktemp("values") / "sts"
    write_bundle(folder / "bundle", pair_bundle(values=True))
    return folder


def test_a_pair_is_shown_with_every_score_or_its_value(gonie: Gonie, labels: Path, values: Path) -> None:
    outcome = gonie("classify", labels, "good", "bad")
    assert (outcome.code, outcome.out) == (0, "other  0.982\nsame   0.018\n"), outcome.err
    outcome = gonie("classify", values, "good", "good")
    assert (outcome.code, outcome.out) == (0, "4.91\n"), outcome.err


def test_lines_have_a_tab_between_the_texts(gonie: Gonie, labels: Path, values: Path, tmp_path: Path) -> None:
    given = "good\tbad 한글\nbad\tbad\n\t\n"
    outcome = gonie("classify", labels, stdin=given.encode())
    assert outcome.code == 0, outcome.err
    first, second, third = outcome.out.splitlines()
    assert first.startswith("other 0.")
    assert first.endswith("  good | bad 한글")
    assert second == "same 0.982  bad | bad"
    assert third.startswith("other 0.500") or third.startswith("same 0.500")
    (tmp_path / "lines").write_text(given, "utf-8")
    outcome = gonie("classify", values, "--file", tmp_path / "lines")
    assert [line.split("  ")[0] for line in outcome.out.splitlines()][1:] == ["4.91", "2.50"]
    assert gonie("classify", labels, "good\tbad").out.startswith("other"), "a line may be given as TEXT too"


def test_jsonl_output_keeps_the_other_keys_of_the_input(
    gonie: Gonie, labels: Path, values: Path, tmp_path: Path
) -> None:
    """Users match answers to their rows by an id, so the id must be in the output."""
    rows = [
        {"id": 7, "premise": "bad", "hypothesis": "good", "who": {"name": "Ana"}},
        {"premise": "good", "hypothesis": "good", "label": "gold"},
    ]
    (tmp_path / "rows.jsonl").write_text("\n\n".join(map(json.dumps, rows)), "utf-8")
    outcome = gonie("classify", labels, "--file", tmp_path / "rows.jsonl", "--output", "jsonl")
    one, other = map(json.loads, outcome.out.splitlines())
    assert list(one) == ["id", "premise", "hypothesis", "who", "label", "score", "scores"]
    assert (one["id"], one["who"], one["label"], one["score"]) == (7, {"name": "Ana"}, "other", 0.982014)
    assert other["label"] == "same"
    given = json.dumps({"text": "good", "text_pair": "good", "id": 1}).encode()
    outcome = gonie("classify", values, "--input", "jsonl", "--output", "jsonl", stdin=given)
    assert json.loads(outcome.out) == {
        "text": "good",
        "text_pair": "good",
        "id": 1,
        "value": pytest.approx(4.91, abs=0.01),
    }


def test_lines_are_classified_as_jsonl(gonie: Gonie, labels: Path) -> None:
    outcome = gonie("classify", labels, "--output", "jsonl", stdin=b"good\tgood\n")
    assert json.loads(outcome.out) == {
        "text": "good",
        "text_pair": "good",
        "label": "same",
        "score": 0.982014,
        "scores": {"other": 0.017986, "same": 0.982014},
    }


@pytest.mark.parametrize(("kind", "apart"), [("tsv", "\t"), ("csv", ",")])
def test_tables_are_read_by_the_text_columns_of_the_recipe(
    gonie: Gonie, labels: Path, tmp_path: Path, kind: str, apart: str
) -> None:
    rows = [
        ("hypothesis", "id", "premise", "label"),
        ("bad", "1", "good", "?"),
        ("x", "2", " ", "?"),
        ("bad", "3", "bad", "-"),
    ]
    path = tmp_path / f"table.{kind}"
    path.write_text("".join(apart.join(row) + "\n" for row in rows))
    for options in ((), ("--input", kind)):
        outcome = gonie("classify", labels, "--file", path, *options)
        assert outcome.out == "other 0.982  good | bad\nsame 0.982  bad | bad\n", outcome.err
        assert "skipped 1 pair with an empty text" in outcome.err
    path.write_text(apart.join(("text", "text_pair")) + "\n" + apart.join(("good", "bad")) + "\n")
    assert gonie("classify", labels, "--file", path).refused(
        f"table.{kind}", "no columns premise and hypothesis in the header: text, text_pair"
    )


def test_parquet_is_read_by_two_columns(gonie: Gonie, labels: Path, tmp_path: Path) -> None:
    arrow = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    rows = [
        {"id": 1, "premise": "good", "hypothesis": "bad"},
        {"id": 2, "premise": "bad", "hypothesis": "bad"},
    ]
    parquet.write_table(arrow.Table.from_pylist(rows), tmp_path / "rows.parquet")
    outcome = gonie("classify", labels, "--file", tmp_path / "rows.parquet")
    assert outcome.out == "other 0.982  good | bad\nsame 0.982  bad | bad\n", outcome.err


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["good"], ["the model needs 2 texts, got 1. Run: gonie classify", "TEXT TEXT"]),
        (["good", "bad", "film"], ["the model needs 2 texts, got 3"]),
        (["good", "bad", "--column", "a"], ["--column cannot be combined with TEXT"]),
        (["good\tbad\tfilm"], ["got 3"]),
        (["good", "bad", "--file", "x"], ["TEXT and --file cannot be combined"]),
        (["good", "bad", "--input", "tsv"], ["--input tsv"]),
        (['{"premise": "x"}', "--input", "jsonl"], ["TEXT:1: no key 'hypothesis'"]),
        (['{"premise": "x", "hypothesis": 7}', "--input", "jsonl"], ["'hypothesis'"]),
        (["ab\udcff", "good"], ["lone surrogate"]),
        (["--input", "xml"], ["--input xml is not supported"]),
        (["--output", "conll"], ["--output conll is not supported"]),
    ],
)
def test_invalid_arguments_are_refused_with_a_message(
    gonie: Gonie, labels: Path, arguments: list[str], words: list[str]
) -> None:
    assert gonie("classify", labels, *arguments).refused(*words)


def test_a_line_without_two_texts_is_refused_with_its_number(gonie: Gonie, labels: Path) -> None:
    outcome = gonie("classify", labels, stdin=b"good\tbad\ngood\n")
    assert outcome.refused("standard input:2: expected 2 tab-separated texts")
    assert "table" not in outcome.err
    table = b"premise\thypothesis\tlabel\ngood\tbad\tx\n"
    refused = gonie("classify", labels, stdin=table)
    assert refused.refused("seems to be the header of a table", "Pass --input tsv")
    assert gonie("classify", labels, "--input", "tsv", stdin=table).out == "other 0.982  good | bad\n"


def test_gonie_tag_refuses_a_pair_model_and_names_classify(gonie: Gonie, labels: Path) -> None:
    assert gonie("tag", labels, "good").refused("is a pair classifier; use gonie classify")


def test_truncated_texts_are_reported_once(gonie: Gonie, tmp_path: Path, pair_bundle: Any) -> None:
    write_bundle(tmp_path / "b", pair_bundle(max_tokens=2))
    outcome = gonie(
        "classify", tmp_path / "b", stdin=b"good good bad\tgood\ngood\tgood good bad\ngood\tgood\n"
    )
    assert outcome.out.count("same 0.982") == 3
    assert outcome.err.count("cut to 2 tokens") == 1
    assert outcome.err.endswith("2 pairs\n")


# --- bulk output -----------------------------------------------------------------------------------------


def read_parts(folder: Path) -> list[dict[str, Any]]:
    return [
        json.loads(line)
        for path in sorted(folder.glob("part-*.jsonl"))
        for line in path.read_text("utf-8").splitlines()
    ]


def test_parts_contain_the_streamed_answers(gonie: Gonie, labels: Path, tmp_path: Path) -> None:
    pairs = [("good film " * (number % 3 + 1), ("bad", "good")[number % 2]) for number in range(30)]
    (tmp_path / "a.txt").write_text("".join("\t".join(pair) + "\n" for pair in pairs), "utf-8")
    (tmp_path / "b.jsonl").write_text(
        "".join(
            json.dumps({"id": number, "premise": one, "hypothesis": two}) + "\n"
            for number, (one, two) in enumerate(pairs)
        ),
        "utf-8",
    )
    files = ["--file", tmp_path / "a.txt", "--file", tmp_path / "b.jsonl"]
    out = tmp_path / "out"
    ended = gonie("classify", labels, *files, "--out", out, "--workers", 1, "--shard-size", 500)
    assert ended.code == 0, ended.err
    found = read_parts(out)
    assert len(list(out.glob("part-*.jsonl"))) > 2
    streamed = [
        json.loads(line) for line in gonie("classify", labels, *files, "--output", "jsonl").out.splitlines()
    ]
    assert [{**record, **answer} for record, answer in zip(found, streamed, strict=True)] == found
    assert [record["id"] for record in found[30:]] == list(range(30))


def test_other_columns_can_be_named(gonie: Gonie, values: Path, tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_text('{"q1": "good", "q2": "good"}\n{"q1": "good"}\n', "utf-8")
    command = ["classify", values, "--file", tmp_path / "a.jsonl", "--out", tmp_path / "out", "--workers", 1]
    assert gonie(*command, "--column", "q1").refused("one for each text of a pair, got 1", "--column FIRST")
    ended = gonie(*command, "--column", "q1", "--column", "q2")
    (found,) = read_parts(tmp_path / "out")
    assert found["value"] == pytest.approx(4.91, abs=0.01)
    assert "1 invalid row skipped" in ended.err
    assert f"the first invalid row is {tmp_path / 'a.jsonl'}:2: no key 'q2'" in ended.err


@pytest.mark.parametrize("name", ["a.jsonl", "a.tsv", "a.csv"])
def test_other_columns_can_be_named_without_out(
    gonie: Gonie, values: Path, tmp_path: Path, name: str
) -> None:
    contents = {
        "a.jsonl": '{"q1": "good", "q2": "bad"}\n',
        "a.tsv": "q1\tq2\ngood\tbad\n",
        "a.csv": "q1,q2\ngood,bad\n",
    }
    (tmp_path / name).write_text(contents[name], "utf-8")
    command = ["classify", values, "--file", tmp_path / name]
    outcome = gonie(*command, "--column", "q1", "--column", "q2")
    assert outcome.out.endswith("good | bad\n"), outcome.err
    assert gonie(*command, "--column", "q1").refused("got 1", "--column FIRST --column SECOND")
    if name != "a.jsonl":
        assert gonie(*command).refused(f"{name}:1: no columns", "--column FIRST --column SECOND")


def test_a_table_is_read_by_its_header_in_a_bulk_run(gonie: Gonie, labels: Path, tmp_path: Path) -> None:
    rows = [f"{number}\tbad\tgood film {'x ' * number}\t-" for number in range(9)]
    table = tmp_path / "a.tsv"
    table.write_text("\n".join(["id\thypothesis\tpremise\tlabel", *rows]) + "\n", "utf-8")
    command = ["classify", labels, "--file", table]
    ended = gonie(*command, "--out", tmp_path / "out", "--workers", 1, "--shard-size", 60)
    assert ended.code == 0, ended.err
    assert "9 rows in" in ended.err
    found = read_parts(tmp_path / "out")
    assert len(list((tmp_path / "out").glob("part-*.jsonl"))) > 2
    streamed = [json.loads(line) for line in gonie(*command, "--output", "jsonl").out.splitlines()]
    assert [{**record, **answer} for record, answer in zip(found, streamed, strict=True)] == found
    assert [record["row"] for record in found] == list(range(2, 11)), "the row is the line"


def test_a_bulk_run_without_a_valid_row_fails_with_the_first_reason(
    gonie: Gonie, labels: Path, tmp_path: Path
) -> None:
    (tmp_path / "a.txt").write_text("a\tb\tc\n" * 3, "utf-8")
    command = ["classify", labels, "--file", tmp_path / "a.txt", "--out", tmp_path / "out", "--workers", 1]
    for _ in range(2):  # the second call finds the parts of the first
        assert gonie(*command).refused("every row is invalid", "a.txt:1: expected 2 tab-separated texts")


@pytest.mark.parametrize("kind", ["labels", "values"])
def test_parquet_output_has_both_texts(
    kind: str, gonie: Gonie, request: pytest.FixtureRequest, tmp_path: Path
) -> None:
    parquet = pytest.importorskip("pyarrow.parquet")
    (tmp_path / "a.txt").write_text("good\tbad\nbad\tbad\n", "utf-8")
    out = tmp_path / "out"
    model = request.getfixturevalue(kind)
    ended = gonie(
        *("classify", model, "--file", tmp_path / "a.txt", "--out", out),
        *("--output", "parquet", "--workers", 1),
    )
    assert ended.code == 0, ended.err
    (part,) = out.glob("part-*.parquet")
    table = parquet.read_table(part)
    assert table.column_names[:5] == ["file", "row", "id", "text", "text_pair"]
    rows = table.to_pylist()
    assert [(row["text"], row["text_pair"]) for row in rows] == [("good", "bad"), ("bad", "bad")]
    if kind == "labels":
        assert [row["label"] for row in rows] == ["other", "same"]
        assert [row["value"] for row in rows] == [None, None]
    else:
        assert [row["label"] for row in rows] == [None, None]
        assert [row["value"] for row in rows] == pytest.approx([0.09, 4.91], abs=0.01)
