"""Tests the standard output of streaming commands."""

from __future__ import annotations

import pytest
from rich.text import Text

from gonie.cli.views.stream_output import open_output, printer
from gonie.errors import InputError


def test_an_unknown_output_format_is_refused_with_the_known_ones() -> None:
    open_output("jsonl", ("pretty", "jsonl"))
    with pytest.raises(InputError, match=r"--output xml is not supported\. Use pretty, jsonl"):
        open_output("xml", ("pretty", "jsonl"))


def test_output_to_a_file_has_no_colours(capsys: pytest.CaptureFixture[str]) -> None:
    printer()(Text("[red]한글", style="bold green"))
    assert capsys.readouterr().out == "[red]한글\n"
