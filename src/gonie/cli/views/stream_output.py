"""What commands that write a result a text have in common: standard output, in UTF-8, flushed at once."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from io import TextIOWrapper

from rich.console import Console
from rich.text import Text

from gonie.errors import InputError
from gonie.formats.jsonl import json_line
from gonie.tasks.records import Answered, Answering


def stream_writer(
    kind: str, answering: Answering, *, known: Sequence[str], alone: bool
) -> Callable[[Answered], None]:
    """What writes an answer to standard output; ``alone`` if it is the only one."""
    open_output(kind, known)
    if kind == "jsonl":
        return lambda answered: put(json_line(answering.record(answered)))
    view, show = answering.view(kind, alone=alone), printer()

    def write(answered: Answered) -> None:
        shown = view(answered)
        if isinstance(shown, str):
            put(shown)
        else:
            show(shown)

    return write


def open_output(kind: str, known: Sequence[str]) -> None:
    """Refuse a kind of output that is not known, and see to it that any character can be written."""
    if kind == "parquet":
        raise InputError("expected --out DIR with --output parquet, got none", fix="Name a folder")
    if kind not in known:
        raise InputError(f"expected --output {', '.join(known)}, got {kind!r}")
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
