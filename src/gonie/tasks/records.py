"""The facet of a task that answers rows of texts: what `gonie tag`, `gonie classify` and bulk runs ask.

Reading, streaming, shards and parts are written once against these roles. A task says which input it takes,
how a loaded model answers rows, and what is written of an answer.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from gonie.errors import InputError
from gonie.formats.text_rows import TextRow
from gonie.text.report import Report
from gonie.text.tokenizers.settings import TokenizerSettings

if TYPE_CHECKING:  # only who shows answers on a terminal needs it
    from rich.text import Text

Reject = Callable[[TextRow, InputError], None]
"""Is told which row a model cannot take, and why."""


DIGITS = 6
"""Decimals of a probability in a record."""


def rounded(score: float) -> float:
    """A probability as records have it."""
    return round(score, DIGITS)


def noted(notes: Sequence[str]) -> dict[str, Any]:
    """The notes of an answer as records have them: only where there are any."""
    return {"notes": list(notes)} if notes else {}


class Answered(NamedTuple):
    """What a model says of a row, how many tokens it read, and what there is to note."""

    row: TextRow
    found: Any
    tokens: int
    notes: tuple[str, ...] = ()


class InputKinds(NamedTuple):
    """The kinds of input that a task takes (``gonie.formats.text_rows``)."""

    stream: tuple[str, ...]
    """Of a text, files or standard input."""
    labelled: tuple[str, ...]
    """Those of ``stream`` that are labelled formats, which the task reads itself."""
    detected: tuple[str, ...]
    """Those of ``stream`` that are told by the suffix of a file."""
    files: tuple[str, ...]
    """Of the files of a bulk run, all of which are told by their suffix."""


class Notes(Protocol):
    """Collects what there is to note of the answers of a stream."""

    def add(self, notes: Sequence[str]) -> Iterable[str]:
        """Take the notes of an answer; gives those to show at once."""
        ...

    def summary(self) -> Iterable[str]:
        """What to show at the end."""
        ...


class Answering(Protocol):
    """A loaded model that answers as the options say."""

    @property
    def tokenizer_settings(self) -> TokenizerSettings:
        """How its texts are cut into tokens."""
        ...

    def __call__(self, rows: Iterable[TextRow], reject: Reject, *, first: int = ...) -> Iterator[Answered]:
        """The answers to rows, in order; some rows are read ahead, at first about ``first`` tokens."""
        ...

    def read(self, path: str | Path, kind: str, report: Report) -> Iterator[Any]:
        """The examples of a file of a labelled format, without their labels."""
        ...

    def record(self, answered: Answered) -> dict[str, Any]:
        """An answer as a JSON object."""
        ...

    def view(self, output: str, *, alone: bool) -> Callable[[Answered], Text | str]:
        """What shows an answer, as Rich text or as plain lines; ``alone`` if it is the only one."""
        ...


class Records(Protocol):
    """The facet."""

    @property
    def inputs(self) -> InputKinds:
        """What it reads."""
        ...

    @property
    def outputs(self) -> tuple[str, ...]:
        """What a stream may be written as; ``jsonl`` is among them, ``view`` shows the others."""
        ...

    def columns(self, recipe: Mapping[str, Any], asked: Sequence[str]) -> tuple[str, ...]:
        """The columns, or JSON keys, of a row's texts: those ``asked`` for, else as the recipe says."""
        ...

    def answering(self, model: Any, options: Mapping[str, Any]) -> Answering:
        """The model, asked as ``options`` say: plain values by name, which travel as JSON."""
        ...

    def arrow_columns(self, arrow: Any, options: Mapping[str, Any]) -> Mapping[str, Any]:
        """The columns of a Parquet part that are the task's own, with their types; ``arrow`` is PyArrow."""
        ...

    def cells(self, answered: Answered, record: Mapping[str, Any]) -> dict[str, Any]:
        """The record of an answer as a row of those columns."""
        ...

    def notes(self) -> Notes:
        """A collector for the notes of one stream."""
        ...
