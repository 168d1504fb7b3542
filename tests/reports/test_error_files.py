"""If these break, a list of errors cannot be opened as a table, or loses what stands in it."""

from __future__ import annotations

import csv
import io
import json
from dataclasses import dataclass

import pytest

from gonie.errors import OutputError
from gonie.metrics.errors import Error, Kind
from gonie.reports.error_files import error_writer


@dataclass(frozen=True)
class Slip:
    """Another kind of error, with columns of its own."""

    confidence: float
    gold: str | None
    text: str


HOSTILE = ('"', "a\tb", "c\nd", "e\u2028f", "\r", "=1+1")
SLIPS = [Slip(1 / 3, None, text) for text in HOSTILE]


def test_no_text_breaks_the_table() -> None:
    text = "".join(error_writer("a.tsv", Slip)(SLIPS))
    assert text.count("\n") == len(text.splitlines()) == 7
    rows = list(csv.DictReader(io.StringIO(text), delimiter="\t", quoting=csv.QUOTE_NONE))
    assert all(None not in row and None not in row.values() for row in rows), "as many fields as names"
    assert [row["text"] for row in rows] == ['"', "a b", "c d", "e f", " ", "=1+1"]
    assert {(row["confidence"], row["gold"]) for row in rows} == {("0.333333", "")}


def test_lines_of_json_keep_every_character() -> None:
    records = [json.loads(line) for line in error_writer("a.JSONL", Slip)(SLIPS)]
    assert [record["text"] for record in records] == list(HOSTILE)
    assert records[0]["gold"] is None
    assert records[0]["confidence"] == 0.333333


def test_no_errors_are_a_header_alone_and_no_lines_of_json() -> None:
    assert list(error_writer("a.tsv", Slip)([])) == ["confidence\tgold\ttext\n"]
    assert list(error_writer("a.jsonl", Slip)([])) == []


def test_a_kind_is_written_by_its_name() -> None:
    error = Error(0.5, Kind.FALSE_NEGATIVE, "X", None, "a", None, "", "a", "", "f.conll", 3)
    assert json.loads(next(error_writer("a.jsonl", Error)([error])))["kind"] == "false negative"
    assert list(error_writer("a.tsv", Error)([error]))[1] == (
        "0.5\tfalse negative\tX\t\ta\t\t\ta\t\tf.conll\t3\n"
    )


@pytest.mark.parametrize("name", ["a.html", "a"])
def test_another_suffix_is_refused(name: str) -> None:
    with pytest.raises(OutputError, match=r"\.tsv or \.jsonl"):
        error_writer(name, Slip)
