"""Make text safe to print on a terminal."""

from __future__ import annotations

import re

CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")
"""Control characters that could change the state of a terminal or the direction of text."""


def safe(text: str) -> str:
    """Replace control characters, so that no text can control the terminal it is printed on."""
    return CONTROL.sub("\ufffd", text)


def one_line(text: str) -> str:
    """Return safe text on one line, with each run of white space as one space."""
    return safe(" ".join(text.split()))
