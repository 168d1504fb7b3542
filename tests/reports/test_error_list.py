"""Lists of errors: the most confident on the terminal, all of them in a file."""

from __future__ import annotations

import csv
import io
import json
from dataclasses import dataclass
from pathlib import Path

import pytest
from rich.console import Console

from gonie.errors import OutputError
from gonie.metrics.errors import Error, Kind
from gonie.reports.error_list import SHOWN, error_writer, print_errors, write_errors
from gonie.tasks.tagging.evaluation_view import span_cells


def error(**changes: object) -> Error:
    values: dict[str, object] = {
        "confidence": 0.5,
        "kind": Kind.WRONG_LABEL,
        "gold": "PER",
        "predicted": "LOC",
        "gold_text": "Kim",
        "predicted_text": "Kim",
        "before": "so ",
        "text": "Kim",
        "after": " said",
        "file": "dev.conll",
        "line": 1,
    }
    return Error(**{**values, **changes})  # type: ignore[arg-type]


def printed(*errors: Error) -> str:
    console = Console(width=120, force_terminal=False)
    with console.capture() as capture:
        print_errors(console, errors, Path("errors.tsv"), cells=span_cells)
    return capture.get()


def test_an_error_is_shown_in_its_context() -> None:
    text = printed(error(confidence=0.98765))
    for words in ("0.988", "wrong label", "PER", "LOC", "so [Kim] said", "1 error; ", "errors.tsv"):
        assert words in text, words


def test_spans_with_different_boundaries_are_shown_with_their_text() -> None:
    assert "PER: Kim" in printed(error(kind=Kind.WRONG_BOUNDARY, predicted_text="so Kim"))
    assert "PER: Kim" not in printed(error(kind=Kind.FALSE_NEGATIVE, predicted=None, predicted_text=None))


def test_only_the_first_are_shown_and_the_rest_is_counted() -> None:
    text = printed(*[error(text=f"w{n}") for n in range(SHOWN + 5)])
    assert f"[w{SHOWN - 1}]" in text
    assert f"[w{SHOWN}]" not in text
    assert f"of {SHOWN + 5} errors" in text


def test_an_empty_list_is_reported() -> None:
    assert printed().startswith("No errors")


def test_texts_cannot_control_the_terminal() -> None:
    text = printed(error(text="\x1b[2J[red]x[/red]", before="\x07", gold="[bold]"))
    assert "\x1b" not in text
    assert "\x07" not in text
    assert "[red]x[/red]" in text
    assert "[bold]" in text


def test_a_file_name_with_invalid_utf8_is_escaped(tmp_path: Path) -> None:
    path = tmp_path / "e.tsv"
    write_errors(path, [error(file="\udcff.conll", text="김")], error_writer(path, Error))
    written = path.read_text("utf-8")
    assert "\\udcff.conll" in written
    assert "김" in written


@dataclass(frozen=True)
class Slip:
    """Another kind of error, with its own columns."""

    confidence: float
    gold: str | None
    text: str


HOSTILE = ('"', "a\tb", "c\nd", "e\u2028f", "\r", "=1+1")
SLIPS = [Slip(1 / 3, None, text) for text in HOSTILE]


def test_special_characters_do_not_break_the_table() -> None:
    text = "".join(error_writer("a.tsv", Slip)(SLIPS))
    assert text.count("\n") == len(text.splitlines()) == 7
    rows = list(csv.DictReader(io.StringIO(text), delimiter="\t", quoting=csv.QUOTE_NONE))
    assert all(None not in row and None not in row.values() for row in rows), "as many fields as names"
    assert [row["text"] for row in rows] == ['"', "a b", "c d", "e f", " ", "=1+1"]
    assert {(row["confidence"], row["gold"]) for row in rows} == {("0.333333", "")}


def test_json_lines_keep_every_character() -> None:
    records = [json.loads(line) for line in error_writer("a.JSONL", Slip)(SLIPS)]
    assert [record["text"] for record in records] == list(HOSTILE)
    assert records[0]["gold"] is None
    assert records[0]["confidence"] == 0.333333


def test_no_errors_give_only_a_header_or_an_empty_file() -> None:
    assert list(error_writer("a.tsv", Slip)([])) == ["confidence\tgold\ttext\n"]
    assert list(error_writer("a.jsonl", Slip)([])) == []


def test_the_kind_of_error_is_written_by_name() -> None:
    error = Error(0.5, Kind.FALSE_NEGATIVE, "X", None, "a", None, "", "a", "", "f.conll", 3)
    assert json.loads(next(error_writer("a.jsonl", Error)([error])))["kind"] == "false negative"
    assert list(error_writer("a.tsv", Error)([error]))[1] == (
        "0.5\tfalse negative\tX\t\ta\t\t\ta\t\tf.conll\t3\n"
    )


@pytest.mark.parametrize("name", ["a.html", "a"])
def test_another_suffix_is_refused(name: str) -> None:
    with pytest.raises(OutputError, match=r"\.tsv or \.jsonl"):
        error_writer(name, Slip)
