"""What commands that write a result a text have in common: standard output, in UTF-8, flushed at once."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Sequence
from io import TextIOWrapper

from rich.console import Console
from rich.text import Text

from gonie.errors import InputError

CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")
"""What could steer a terminal, or turn a line of it around."""


def open_output(kind: str, known: Sequence[str]) -> None:
    """Refuse a kind of output that is not known, and see to it that any character can be written."""
    if kind == "parquet":
        raise InputError(expected="--out DIR with --output parquet", got="none", fix="Name a folder")
    if kind not in known:
        raise InputError(expected=f"--output {', '.join(known)}", got=repr(kind))
    if isinstance(sys.stdout, TextIOWrapper):
        sys.stdout.reconfigure(encoding="utf-8")


def put(text: str) -> None:
    """Write lines as they are."""
    sys.stdout.write(text)
    sys.stdout.flush()


def printer() -> Callable[[Text], None]:
    """What writes for the eye: in colour on a terminal, plain into a file."""
    if not sys.stdout.isatty():
        return lambda shown: put(shown.plain + "\n")
    console = Console(highlight=False, soft_wrap=True)
    return console.print


def safe(text: str) -> str:
    """Control characters made visible, so that no text can steer the terminal it is shown on."""
    return CONTROL.sub("\ufffd", text)


def one_line(text: str) -> str:
    """As ``safe``, with a blank for each run of blanks, tabs and line ends: labels may have those too."""
    return safe(" ".join(text.split()))
