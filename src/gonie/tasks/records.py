"""The interface of a task for answering rows of texts, used by `gonie tag`, `gonie classify` and bulk runs.

Reading, streaming, shards and output parts are written once for all tasks. A task defines its input formats,
how a loaded model answers rows, and how an answer is written.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from gonie.errors import InputError
from gonie.formats.jsonl import json_line
from gonie.formats.text_rows import TextRow
from gonie.text.report import Report, count
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


TEXTS = ("text", "text_pair")
"""The names of the texts in an answer."""
PREFIX = "input_"
"""Begins the name of a field of the input that has the name of a field of the answer."""


class ReturnedFields:
    """Writes answers after the fields of their input rows. Nothing of the input is lost.

    A field of the input that has one of ``names``, the fields of the answer, gets the prefix ``input_``. The
    text itself is written once: if its column in ``columns`` has the name that it has in the answer, the
    input's field stands for both. ``renamed`` counts the rows with each field that got a prefix.
    """

    def __init__(self, names: Iterable[str], columns: Sequence[str]) -> None:
        self.texts = {name for name, column in zip(TEXTS, columns, strict=False) if name == column}
        self._names = frozenset(names)
        self._taken = self._names - self.texts
        self.renamed: Counter[str] = Counter()

    def new_names(self, fields: Collection[str]) -> dict[str, str]:
        """Return the fields that need another name, with that name."""
        renamed = {}
        for name in self._taken.intersection(fields):
            new = PREFIX + name
            while new in fields or new in self._names:
                new = PREFIX + new
            renamed[name] = new
        return renamed

    def line(
        self, fields: Mapping[str, str], answer: Mapping[str, Any], place: Mapping[str, Any] | None = None
    ) -> str:
        """Return one line of JSON: the place, the ``fields`` of the input (JSON texts), and the answer."""
        if not fields:
            return json_line({**place, **answer} if place else answer)
        own = {name: value for name, value in answer.items() if not (name in self.texts and name in fields)}
        if not self._taken.isdisjoint(fields):
            new = self.new_names(fields)
            self.renamed.update(new.keys())
            fields = {new.get(name, name): text for name, text in fields.items()}
        before, after = (json_line(each)[1:-2] if each else "" for each in (place, own))
        return "{" + ", ".join(filter(None, (before, object_text(fields)[1:-1], after))) + "}\n"


def object_text(fields: Mapping[str, str]) -> str:
    """Return the JSON object of fields, which are JSON texts."""
    return "{" + ", ".join(f"{_name(name)}: {text}" for name, text in fields.items()) + "}"


def renamed_note(renamed: Mapping[str, int]) -> Iterable[str]:
    """Return a note about the fields that got a prefix, if there are any."""
    if renamed:
        each = ", ".join(f"{name} ({count(rows, 'row')})" for name, rows in sorted(renamed.items()))
        yield f"fields of the input that the answer has too are written with the prefix {PREFIX}: {each}"


def _name(name: str) -> str:
    """Return a name as JSON."""
    return json_line({name: 0})[1:-5]


class InputKinds(NamedTuple):
    """The input formats of a task (``gonie.formats.text_rows``)."""

    stream: tuple[str, ...]
    """Formats of a text, of files or of standard input."""
    labelled: tuple[str, ...]
    """The formats in ``stream`` that the task reads itself, such as tables with headers."""
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

    def read(self, path: str | Path, kind: str, report: Report) -> Iterator[TextRow]:
        """Yield the rows of a file in a labelled format, without their labels."""
        ...

    def record(self, answered: Answered) -> dict[str, Any]:
        """Return an answer as a JSON object, without the fields of its input row."""
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

    @property
    def fields(self) -> tuple[str, ...]:
        """The names of all fields that an answer can have, which fields of the input cannot have."""
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
