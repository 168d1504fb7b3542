"""Text that is shown on a terminal: made safe, and on one line where it has to be."""

from __future__ import annotations

import re

CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")
"""What could steer a terminal, or turn a line of it around."""


def safe(text: str) -> str:
    """Control characters made visible, so that no text can steer the terminal it is shown on."""
    return CONTROL.sub("\ufffd", text)


def one_line(text: str) -> str:
    """As ``safe``, with a blank for each run of blanks, tabs and line ends: labels may have those too."""
    return safe(" ".join(text.split()))
