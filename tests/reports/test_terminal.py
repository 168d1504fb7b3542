"""Text for the terminal: control characters are made harmless."""

from __future__ import annotations

from gonie.reports.terminal import one_line, safe


def test_control_characters_are_made_visible() -> None:
    assert safe("a\x1b[2J\x07\x9b\r b\tc\n") == "a\ufffd[2J\ufffd\ufffd\ufffd b\tc\n"


def test_a_label_with_line_breaks_stays_on_one_line() -> None:
    assert one_line(" a\tb\n\nc\x1b[2J ") == "a b c\ufffd[2J"
