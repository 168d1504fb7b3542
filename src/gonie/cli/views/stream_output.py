"""Writers of predictions to standard output, in UTF-8 and flushed after each one."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from io import TextIOWrapper

from rich.console import Console
from rich.text import Text

from gonie.errors import InputError
from gonie.tasks.records import Answered, Answering, ReturnedFields


def stream_writer(
    kind: str, answering: Answering, fields: ReturnedFields, *, known: Sequence[str], alone: bool
) -> Callable[[Answered], None]:
    """Return a function that writes a prediction, in JSON after the ``fields`` of its input row.

    ``alone`` means that there is only one.
    """
    open_output(kind, known)
    if kind == "jsonl":
        return lambda answered: put(fields.line(answered.row.fields, answering.record(answered)))
    view, show = answering.view(kind, alone=alone), printer()

    def write(answered: Answered) -> None:
        shown = view(answered)
        if isinstance(shown, str):
            put(shown)
        else:
            show(shown)

    return write


def open_output(kind: str, known: Sequence[str]) -> None:
    """Refuse an unknown kind of output, and set standard output to UTF-8."""
    if kind == "parquet":
        raise InputError("--output parquet requires --out")
    if kind not in known:
        raise InputError(f"--output {kind} is not supported", fix=f"Use {', '.join(known)}")
    if isinstance(sys.stdout, TextIOWrapper):
        sys.stdout.reconfigure(encoding="utf-8")


def put(text: str) -> None:
    """Write text and flush."""
    sys.stdout.write(text)
    sys.stdout.flush()


def printer() -> Callable[[Text], None]:
    """Return a function that prints rich text: in colour on a terminal, otherwise plain."""
    if not sys.stdout.isatty():
        return lambda shown: put(shown.plain + "\n")
    console = Console(highlight=False, soft_wrap=True)
    return console.print
