"""`gonie evaluate --errors`: the surest errors on the terminal, all of them in the file."""

from __future__ import annotations

from pathlib import Path

from rich.console import Console

from gonie.cli.views.error_list import SHOWN, print_errors, span_cells, text_cells, write_errors
from gonie.metrics.class_errors import ClassError
from gonie.metrics.errors import Error, Kind
from gonie.reports.error_files import error_writer


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


def test_where_the_spans_differ_each_side_says_what_it_covers() -> None:
    assert "PER: Kim" in printed(error(kind=Kind.WRONG_BOUNDARY, predicted_text="so Kim"))
    assert "PER: Kim" not in printed(error(kind=Kind.FALSE_NEGATIVE, predicted=None, predicted_text=None))


def test_only_the_first_are_shown_and_the_rest_is_counted() -> None:
    text = printed(*[error(text=f"w{n}") for n in range(SHOWN + 5)])
    assert f"[w{SHOWN - 1}]" in text
    assert f"[w{SHOWN}]" not in text
    assert f"of {SHOWN + 5} errors" in text


def test_no_errors_is_said() -> None:
    assert printed().startswith("No errors")


def test_texts_cannot_steer_the_terminal() -> None:
    text = printed(error(text="\x1b[2J[red]x[/red]", before="\x07", gold="[bold]"))
    assert "\x1b" not in text
    assert "\x07" not in text
    assert "[red]x[/red]" in text
    assert "[bold]" in text


def test_a_text_with_a_wrong_label_is_shown_on_one_line() -> None:
    wrong = ClassError(0.9, Kind.FALSE_NEGATIVE, "[b]", None, 0.1, "one\n\x1b[2Jtwo " + 500 * "x", "f", 1)
    console = Console(width=200, force_terminal=False)
    with console.capture() as capture:
        print_errors(console, [wrong], Path("errors.tsv"), cells=text_cells)
    text = capture.get()
    assert "\x1b" not in text
    for words in ("0.900", "false negative", "[b]", "–", "one \ufffd[2Jtwo", "…"):
        assert words in text, words


def test_a_file_name_that_is_no_utf8_does_not_lose_the_list(tmp_path: Path) -> None:
    path = tmp_path / "e.tsv"
    write_errors(path, [error(file="\udcff.conll", text="김")], error_writer(path, Error))
    written = path.read_text("utf-8")
    assert "\\udcff.conll" in written
    assert "김" in written
