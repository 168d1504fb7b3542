"""Standard output of commands that stream: kinds that are none are refused."""

from __future__ import annotations

import pytest
from rich.text import Text

from gonie.cli.views.stream_output import open_output, printer
from gonie.errors import InputError


def test_a_kind_that_is_none_is_refused_with_those_that_are() -> None:
    open_output("jsonl", ("pretty", "jsonl"))
    with pytest.raises(InputError, match=r"--output xml is not supported\. Use pretty, jsonl"):
        open_output("xml", ("pretty", "jsonl"))


def test_into_a_file_it_is_plain(capsys: pytest.CaptureFixture[str]) -> None:
    printer()(Text("[red]한글", style="bold green"))
    assert capsys.readouterr().out == "[red]한글\n"
