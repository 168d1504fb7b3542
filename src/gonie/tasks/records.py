"""The interface of a task for answering rows of texts, used by `gonie tag`, `gonie classify` and bulk runs.

Reading, streaming, shards and output parts are written once for all tasks. A task defines its input formats,
how a loaded model answers rows, and how an answer is written.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from gonie.errors import InputError
from gonie.formats.text_rows import TextRow
from gonie.text.report import Report
from gonie.text.tokenizers.settings import TokenizerSettings

if TYPE_CHECKING:  # needed only to show answers on a terminal
    from rich.text import Text

Reject = Callable[[TextRow, InputError], None]
"""Called with a row that a model cannot process, and the reason."""


DIGITS = 6
"""Decimal places of a probability in a record."""


def rounded(score: float) -> float:
    """Round a probability for a record."""
    return round(score, DIGITS)


def noted(notes: Sequence[str]) -> dict[str, Any]:
    """Return the notes of an answer as a field of its record, or no field if there are none."""
    return {"notes": list(notes)} if notes else {}


class Answered(NamedTuple):
    """The model's answer for a row, the number of tokens read, and notes."""

    row: TextRow
    found: Any
    tokens: int
    notes: tuple[str, ...] = ()


class InputKinds(NamedTuple):
    """The input formats of a task (``gonie.formats.text_rows``)."""

    stream: tuple[str, ...]
    """Formats of a text, of files or of standard input."""
    labelled: tuple[str, ...]
    """The labelled formats in ``stream``, which the task reads itself."""
    detected: tuple[str, ...]
    """The formats in ``stream`` that are detected by the suffix of a file."""
    files: tuple[str, ...]
    """Formats of the files of a bulk run, all detected by their suffix."""


class Notes(Protocol):
    """Collects the notes of the answers of a stream."""

    def add(self, notes: Sequence[str]) -> Iterable[str]:
        """Add the notes of an answer. Return those to show immediately."""
        ...

    def summary(self) -> Iterable[str]:
        """Return the lines to show at the end."""
        ...


class Answering(Protocol):
    """A loaded model with its options, which answers rows."""

    @property
    def tokenizer_settings(self) -> TokenizerSettings:
        """How its texts are tokenised."""
        ...

    def __call__(self, rows: Iterable[TextRow], reject: Reject, *, first: int = ...) -> Iterator[Answered]:
        """Yield the answers in order. Rows are read ahead, about ``first`` tokens before the first answer."""
        ...

    def read(self, path: str | Path, kind: str, report: Report) -> Iterator[Any]:
        """Yield the examples of a file in a labelled format, without their labels."""
        ...

    def record(self, answered: Answered) -> dict[str, Any]:
        """Return an answer as a JSON object."""
        ...

    def view(self, output: str, *, alone: bool) -> Callable[[Answered], Text | str]:
        """Return a function that formats answers. ``alone`` is set if there is only one."""
        ...


class Records(Protocol):
    """Answers rows with the models of a task."""

    @property
    def inputs(self) -> InputKinds:
        """The input formats."""
        ...

    @property
    def outputs(self) -> tuple[str, ...]:
        """The output formats of a stream: ``jsonl``, and those that ``view`` supports."""
        ...

    def columns(self, recipe: Mapping[str, Any], asked: Sequence[str]) -> tuple[str, ...]:
        """Return the columns, or JSON keys, of a row's texts: those ``asked`` for, or those of the recipe."""
        ...

    def answering(self, model: Any, options: Mapping[str, Any]) -> Answering:
        """Return the model with ``options``: JSON values by name."""
        ...

    def arrow_columns(self, arrow: Any, options: Mapping[str, Any]) -> Mapping[str, Any]:
        """Return the task's columns of a Parquet part, with their types. ``arrow`` is PyArrow."""
        ...

    def cells(self, answered: Answered, record: Mapping[str, Any]) -> dict[str, Any]:
        """Return the record of an answer as a row of those columns."""
        ...

    def notes(self) -> Notes:
        """Return a collector for the notes of one stream."""
        ...
