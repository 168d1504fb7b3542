"""Standard output of commands that stream: kinds that are none are refused, no text steers a terminal."""

from __future__ import annotations

import pytest
from rich.text import Text

from gonie.cli.views.stream_output import one_line, open_output, printer, safe
from gonie.errors import InputError


def test_a_kind_that_is_none_is_refused_with_those_that_are() -> None:
    open_output("jsonl", ("pretty", "jsonl"))
    with pytest.raises(InputError, match="expected --output pretty, jsonl, got 'xml'"):
        open_output("xml", ("pretty", "jsonl"))


def test_into_a_file_it_is_plain(capsys: pytest.CaptureFixture[str]) -> None:
    printer()(Text("[red]한글", style="bold green"))
    assert capsys.readouterr().out == "[red]한글\n"


def test_what_could_steer_a_terminal_is_made_visible() -> None:
    assert safe("a\x1b[2J\x07\x9b\r b\tc\n") == "a\ufffd[2J\ufffd\ufffd\ufffd b\tc\n"


def test_a_label_with_line_ends_stays_on_its_line() -> None:
    assert one_line(" a\tb\n\nc\x1b[2J ") == "a b c\ufffd[2J"
