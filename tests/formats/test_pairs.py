"""Text pairs: the right columns are read, and bad rows are refused with their line."""

from __future__ import annotations

import csv
import io
import json
import unicodedata
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from gonie.errors import InputError
from gonie.formats.pairs import PairSource
from gonie.text.labelled_text import ColumnWords, LabelledPair, PairOptions


def source(path: Path, text: str | bytes, **options: Any) -> PairSource:
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return PairSource(path, PairOptions(**options))


def plain(pairs: list[LabelledPair]) -> list[tuple[Any, ...]]:
    return [(pair.first, pair.second, pair.labels, pair.value) for pair in pairs]


LABELS = [("A man runs.", "A man moves.", ("yes",), None), ("He sits.", 'He "runs", fast.', ("no",), None)]
VALUES = [("하나 둘", "둘 하나", (), 4.25), ("셋", "넷, 다섯", (), -1.0)]


# --- columns ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "texts",
    [
        ("text", "text_pair"),
        ("premise", "hypothesis"),
        ("sentence1", "sentence2"),
        ("question1", "question2"),
    ],
)
@pytest.mark.parametrize("gold", ["label", "gold_label", "value", "score"])
@pytest.mark.parametrize("kind", ["tsv", "csv", "jsonl"])
def test_columns_are_found_by_name_in_any_order(
    texts: tuple[str, str], gold: str, kind: str, tmp_path: Path
) -> None:
    rows = LABELS if "label" in gold else VALUES
    names = ["id", gold, texts[1], "genre", texts[0]]
    table = [["7", str((labels or [value])[0]), second, "x", first] for first, second, labels, value in rows]
    if kind == "jsonl":
        written = "".join(json.dumps(dict(zip(names, row, strict=True))) + "\n" for row in table)
    elif kind == "csv":
        content = io.StringIO()
        csv.writer(content).writerows([names, *table])
        written = content.getvalue()
    else:
        written = "".join("\t".join(row) + "\n" for row in [names, *table])
    found = source(tmp_path / f"f.{kind}", written)
    assert plain(list(found)) == rows
    assert found.columns is not None
    assert found.columns[:2] == texts
    assert (found.columns.label or found.columns.value) == gold
    assert (found.columns.label is None) == ("label" not in gold)
    assert found.report.pairs == 2
    told = "\n".join(found.report.lines())
    assert told.endswith("\n2 pairs")
    assert f"{texts[0]} and {texts[1]}" in told
    assert gold in told


def test_a_label_takes_precedence_over_a_score(tmp_path: Path) -> None:
    """A file may have both, as SNLI and GLUE's MNLI do; its labels are what it is meant for."""
    found = source(tmp_path / "f.tsv", "text\ttext_pair\tscore\tlabel\na\tb\t3\tyes\n")
    assert plain(list(found)) == [("a", "b", ("yes",), None)]
    asked = source(tmp_path / "f.tsv", "text\ttext_pair\tscore\tlabel\na\tb\t3\tyes\n", value="score")
    assert plain(list(asked)) == [("a", "b", (), 3.0)]


def test_named_columns_take_precedence(tmp_path: Path) -> None:
    rows = "q1\tq2\tdup\tlabel\ttext\ttext_pair\na\tb\t1\tno\tc\td\n"
    asked = source(tmp_path / "f.tsv", rows, texts=("q2", "q1"), label="dup")
    assert plain(list(asked)) == [("b", "a", ("1",), None)]
    assert "as asked" in "\n".join(asked.report.lines())


def test_columns_without_a_header_are_named_by_number(tmp_path: Path) -> None:
    rows = "".join(f"{at}\tq {at}\tr {at}\t{at % 2}\n" for at in range(6))
    asked = source(tmp_path / "f.tsv", rows, texts=("1", "2"), label="3")
    assert plain(list(asked))[:2] == [("q 0", "r 0", ("0",), None), ("q 1", "r 1", ("1",), None)]
    with pytest.raises(InputError, match="seems to be a header"):
        list(source(tmp_path / "f.tsv", "id\ta\tb\tsame\n" + rows, texts=("1", "2"), label="3"))


def test_gold_answers_are_not_read_unless_requested(tmp_path: Path) -> None:
    """A file for prediction has no gold answers; placeholders in that column must not cause an error."""
    found = source(tmp_path / "f.tsv", "text\ttext_pair\tscore\na\tb\t?\nc\td\t\n", gold=False)
    assert plain(list(found)) == [("a", "b", (), None), ("c", "d", (), None)]


@pytest.mark.parametrize(
    ("header", "options", "words"),
    [
        ("premise\ttext_pair\tlabel", {}, ["no columns", "data.text_columns"]),
        ("text\ttext_pair\tlabel", {"texts": ("a", "b")}, ["no columns a and b for the two texts"]),
        ("text\ttext_pair\tgold", {}, ["no column label, gold_label, is_duplicate, value, score", "'gold'"]),
        ("text\ttext_pair\tlabel", {"label": "dup"}, ["no column dup with the gold answer"]),
        ("text\ttext_pair\tlabel", {"value": "score"}, ["no column score with the gold answer"]),
        ("text\ttext_pair\ttext\tlabel", {}, ["two columns are called 'text'"]),
        ("text\ttext_pair\tid\tid\tlabel", {}, ["two columns are called 'id'"]),
    ],
)
def test_a_header_without_the_columns_is_refused(
    header: str, options: dict[str, Any], words: list[str], tmp_path: Path
) -> None:
    row = "\t".join("x" for _ in header.split("\t"))
    with pytest.raises(InputError) as refused:
        list(source(tmp_path / "f.tsv", f"{header}\n{row}\n", **options))
    for word in (*words, "f.tsv:1: "):
        assert word in str(refused.value)


def test_messages_name_the_options_of_the_command_in_use(tmp_path: Path) -> None:
    advice = ColumnWords("--texts A B", "--gold NAME")
    for header, known, own in (
        ("a\tb\tlabel", "data.text_columns", "or name them: --texts A B"),
        ("text\ttext_pair\tg", "data.label_column", "or name it: --gold NAME"),
    ):
        with pytest.raises(InputError, match=known):
            list(source(tmp_path / "f.tsv", f"{header}\nx\ty\tz\n"))
        with pytest.raises(InputError, match=own) as refused:
            list(source(tmp_path / "f.tsv", f"{header}\nx\ty\tz\n", advice=advice))
        assert "--set" not in str(refused.value)


def test_the_reason_for_each_column_is_reported(tmp_path: Path) -> None:
    reasons = ColumnWords("as in training", "as asked")
    found = source(tmp_path / "f.tsv", "a\tb\tg\nx\ty\tz\n", texts=("a", "b"), label="g", reasons=reasons)
    assert len(list(found)) == 1
    assert {"texts: a and b (as in training)", "labels: g (as asked)"} <= set(found.report.lines())


# --- rows ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("missing", ["-", "-1", "", " "])
def test_pairs_without_a_gold_label_are_skipped_and_counted(missing: str, tmp_path: Path) -> None:
    """SNLI writes a dash where its annotators disagree; it must not be learned as a fourth label."""
    rows = f"premise\thypothesis\tgold_label\na\tb\t{missing}\nc\td\tneutral\ne\tf\t{missing}\n"
    found = source(tmp_path / "f.tsv", rows)
    assert [(pair.labels, pair.line) for pair in found] == [(("neutral",), 3)]
    assert found.report.skipped == {"pairs without a gold label": 2}
    with pytest.raises(InputError, match="no pair has a gold label"):
        list(source(tmp_path / "g.tsv", f"premise\thypothesis\tgold_label\na\tb\t{missing}\n"))


def test_missing_labels_of_the_hub_are_skipped_and_counted(tmp_path: Path) -> None:
    """SNLI on the Hugging Face hub has -1, with or without the names of the labels in the schema."""
    features = {"label": {"names": ["entailment", "neutral"], "_type": "ClassLabel"}}
    table = pa.table({"premise": ["a", "c"], "hypothesis": ["b", "d"], "label": [-1, 1]})
    named = table.replace_schema_metadata({"huggingface": json.dumps({"info": {"features": features}})})
    for each, label in ((table, "1"), (named, "neutral")):
        pq.write_table(each, tmp_path / "f.parquet")
        found = PairSource(tmp_path / "f.parquet")
        assert [pair.labels for pair in found] == [(label,)]
        assert found.report.skipped == {"pairs without a gold label": 1}


@pytest.mark.parametrize("empty", ["", "  ", "\u3000"])
def test_pairs_with_an_empty_text_are_skipped_and_counted(empty: str, tmp_path: Path) -> None:
    rows = f"text\ttext_pair\tvalue\n{empty}\tb\t1\na\t{empty}\tnot read\na\tb\t2\n"
    found = source(tmp_path / "f.tsv", rows)
    assert [pair.value for pair in found] == [2.0]
    assert found.report.skipped == {"pairs with an empty text": 2}


def test_quotation_marks_in_a_tsv_are_literal(tmp_path: Path) -> None:
    """Otherwise the lines up to the next quotation mark would become one field."""
    rows = 'text\ttext_pair\tlabel\n"Yes, he said.\tHe said "yes".\ta\nc\t"d"\tb\n'
    assert plain(list(source(tmp_path / "f.tsv", rows))) == [
        ('"Yes, he said.', 'He said "yes".', ("a",), None),
        ("c", '"d"', ("b",), None),
    ]


def test_csv_texts_may_contain_commas_quotes_and_line_breaks(tmp_path: Path) -> None:
    rows = 'text,text_pair,label\n"a, ""b""","one\ntwo",yes\nc,d,no\n'
    found = list(source(tmp_path / "f.csv", rows))
    assert plain(found) == [('a, "b"', "one\ntwo", ("yes",), None), ("c", "d", ("no",), None)]
    assert [pair.line for pair in found] == [2, 4]


@pytest.mark.parametrize(
    ("name", "text", "line", "words"),
    [
        ("f.tsv", "text\ttext_pair\tlabel\na\tb\n", 2, "expected 3 columns separated by tabs, got 2"),
        ("f.tsv", "text\ttext_pair\tlabel\na\tb\tc\td\n", 2, "got 4"),
        ("f.csv", "text,text_pair,label\na, b,c,d\n", 2, "Quote texts that contain commas"),
        ("f.csv", 'text,text_pair,label\n"a,b,c\n', 2, "quotation mark"),
        ("f.tsv", "text\ttext_pair\tscore\na\tb\tfour\n", 2, "not a number under 'score': 'four'"),
        ("f.tsv", "text\ttext_pair\tscore\na\tb\t\n", 2, "not a number under 'score': ''"),
        ("f.tsv", "text\ttext_pair\tscore\na\tb\tnan\n", 2, "not a number"),
        ("f.tsv", "text\ttext_pair\tscore\na\tb\t-inf\n", 2, "not a number"),
        ("f.tsv", "text\ttext_pair\tscore\na\tb\t1e999\n", 2, "not a number"),
        (
            "f.jsonl",
            f'{{"text": "a", "text_pair": "b", "score": {10**400}}}\n',
            1,
            "not a number .*0…[.] Correct the number",
        ),
        ("f.jsonl", '{"text": "a", "text_pair": "b", "score": NaN}\n', 1, "not a number"),
        ("f.jsonl", '{"text": "a", "text_pair": "b", "score": [1]}\n', 1, "not a number"),
        ("f.jsonl", '{"text": "a", "text_pair": "b", "score": true}\n', 1, "not a number"),
        ("f.jsonl", '{"text": "a", "text_pair": "b", "score": null}\n', 1, "not a number"),
        ("f.jsonl", '{"text": "a", "text_pair": "b", "label": 0.5}\n', 1, "invalid label under 'label': 0.5"),
        ("f.jsonl", '{"text": "a", "text_pair": "b", "label": ["x"]}\n', 1, "invalid label"),
        ("f.jsonl", '{"text": "a", "text_pair": "b", "label": "\\ud800"}\n', 1, "invalid label"),
        ("f.jsonl", '{"text": "a", "text_pair": 7, "label": "x"}\n', 1, "no text under 'text_pair': 7"),
        ("f.jsonl", '{"text": "\\ud800", "text_pair": "b", "label": "x"}\n', 1, "no text under 'text'"),
        ("f.jsonl", '{"text": "a", "text_pair": "b", "label": "x"}\n{"text": "a"}\n', 2, "no text under"),
        ("f.jsonl", "{\n", 1, "JSON object"),
    ],
)
def test_a_bad_row_is_refused_with_its_line(
    name: str, text: str, line: int, words: str, tmp_path: Path
) -> None:
    with pytest.raises(InputError, match=words) as refused:
        list(source(tmp_path / name, text))
    assert f"{name}:{line}: " in str(refused.value)
    assert len(str(refused.value)) < 500, "a message is for reading"


@pytest.mark.parametrize(
    ("name", "text"), [("f.tsv", ""), ("f.jsonl", "\n\n"), ("f.tsv", "text\ttext_pair\tlabel\n")]
)
def test_a_file_without_pairs_is_refused(name: str, text: str, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=rf"{name}: (no pairs in the file|the file is empty)"):
        list(source(tmp_path / name, text))


def test_json_labels_may_be_numbers_or_booleans(tmp_path: Path) -> None:
    """Quora's is_duplicate is 0 or 1, and JSON has true and false."""
    rows = [{"text": "a", "text_pair": "b", "label": label} for label in (0, 1, True, " x ")]
    found = source(tmp_path / "f.jsonl", "".join(json.dumps(row) + "\n" for row in rows))
    assert [pair.labels for pair in found] == [("0",), ("1",), ("true",), ("x",)]


def test_values_may_be_numbers_or_strings(tmp_path: Path) -> None:
    rows = [{"text": "a", "text_pair": "b", "score": value} for value in (0, 2.5, "3.800", "-1e-1")]
    found = source(tmp_path / "f.jsonl", "\n".join(json.dumps(row) for row in rows))
    assert [pair.value for pair in found] == [0.0, 2.5, 3.8, -0.1]


# --- formats ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "text", "told"),
    [
        ("f.txt", "text\ttext_pair\tlabel\na\tb\tx\n", "it has the columns text, text_pair and label"),
        ("f.txt", "text,text_pair,label\na,b,x\n", "it has the columns text, text_pair and label"),
        (
            "f.txt",
            ' {"text": "a", "text_pair": "b", "label": "x"}\n',
            "it has the columns text, text_pair and label",
        ),
        ("f.csv", "text,text_pair,label\na,b,x\n", "by the suffix .csv"),
        ("f.v2.ndjson", '{"text": "a", "text_pair": "b", "label": "x"}\n', "by the suffix .ndjson"),
    ],
)
def test_the_format_is_detected_by_suffix_or_first_line(
    name: str, text: str, told: str, tmp_path: Path
) -> None:
    found = source(tmp_path / name, text)
    assert plain(list(found)) == [("a", "b", ("x",), None)]
    assert told in "\n".join(found.report.lines())


def test_a_given_format_takes_precedence_over_the_suffix(tmp_path: Path) -> None:
    rows = '{"text": "a", "text_pair": "b", "label": "x"}\n'
    assert len(list(source(tmp_path / "f.tsv", rows, format="jsonl"))) == 1
    with pytest.raises(InputError, match="conll is a format of tagged sentences, not of text pairs"):
        list(source(tmp_path / "f.tsv", rows, format="conll"))


def test_a_compressed_file_with_a_byte_order_mark_is_read(tmp_path: Path) -> None:
    import gzip

    rows = "\ufefftext\ttext_pair\tlabel\r\n하나\tb\tx\r\n"
    assert plain(list(source(tmp_path / "f.tsv.gz", gzip.compress(rows.encode())))) == [
        ("하나", "b", ("x",), None)
    ]


def test_a_source_can_be_read_repeatedly(tmp_path: Path) -> None:
    found = source(tmp_path / "f.tsv", "text\ttext_pair\tlabel\n\n \tb\tx\na\tb\tx\n")
    assert plain(list(found)) == plain(list(found))
    assert found.report.pairs == 1, "a second pass counts anew"
    assert found.report.skipped == {"empty lines": 1, "pairs with an empty text": 1}


CELL = st.text(
    st.characters(codec="utf-8", exclude_characters="\n\r\x0b\x0c\x1c\x1d\x1e\x85\u2028\u2029\0\t")
)
SAID = CELL.filter(lambda text: bool(text.strip()))


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(rows=st.lists(st.tuples(SAID, SAID, st.floats(-9, 9)), min_size=1, max_size=4))
@pytest.mark.parametrize("kind", ["tsv", "csv", "jsonl"])
def test_pairs_survive_writing_and_reading(
    kind: str, rows: list[tuple[str, str, float]], tmp_path: Path
) -> None:
    names = ["text", "text_pair", "value"]
    table = [[first, second, repr(value)] for first, second, value in rows]
    if kind == "jsonl":
        written = "".join(json.dumps(dict(zip(names, row, strict=True))) + "\n" for row in table)
    elif kind == "csv":
        content = io.StringIO()
        csv.writer(content, quoting=csv.QUOTE_ALL).writerows([names, *table])
        written = content.getvalue()
    else:
        written = "".join("\t".join(row) + "\n" for row in [names, *table])
    found = list(source(tmp_path / f"f.{kind}", written))
    assert [(pair.first, pair.second, pair.value) for pair in found] == rows


def test_labels_of_a_decomposed_file_are_composed(tmp_path: Path) -> None:
    text = unicodedata.normalize("NFD", "premise\thypothesis\tlabel\n가\t나\t함의\n")
    assert [pair.labels for pair in source(tmp_path / "a.tsv", text)] == [("함의",)]
