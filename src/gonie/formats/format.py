"""What a file format is: how it is read and written, and by what it is recognised.

A format is a module of this package with a value ``TAGGED`` (sentences with a tag for each token),
``LABELLED`` (texts with labels), or both. ``table`` finds it there.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from gonie.system.files import Line
from gonie.text.labelled_text import LabelledRow, TextOptions
from gonie.text.report import Report
from gonie.text.schemes import Policy, Scheme
from gonie.text.types import Sentence

Tokenize = Callable[[str], list[Sentence]]
"""Cuts a text into sentences of tokens with offsets."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadOptions:
    """How to read a file of tagged sentences. What is left alone is detected and reported.

    ``tag_column`` is an index, or in CoNLL-U also a field's name or ``misc:Key``. ``tokenizer`` cuts raw text
    (JSONL). With a ``scheme``, or its name, the tags are checked while reading, and ``repair`` says what
    becomes of invalid ones; under ``"auto"`` they come as they are (``tagged.survey`` finds the scheme).
    """

    format: str = "auto"
    separator: str = "auto"
    word_column: int | None = None
    tag_column: int | str | None = None
    columns: Mapping[str, int] = field(default_factory=dict)
    tokenizer: Tokenize | None = None
    scheme: Scheme | str = "auto"
    repair: Policy = "error"


def _never(lines: Sequence[str]) -> str | None:
    return None


@dataclass(frozen=True, slots=True, kw_only=True)
class TaggedFormat:
    """A format of tagged sentences."""

    name: str
    description: str
    """One line for help pages."""
    read: Callable[[Iterable[Line], ReadOptions, Report], Iterator[Sentence]]
    write: Callable[[Iterable[Sentence], Scheme], Iterator[str]]
    """Sentences and the scheme of their tags to pieces of text."""
    suffixes: tuple[str, ...] = ()
    recognise: Callable[[Sequence[str]], str | None] = _never
    """The first filled lines of a file to the reason why it is of this format, or None."""
    rank: int = 0
    """Formats of lower rank are asked first; the last one recognises whatever is left."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LabelledFormat:
    """A format of labelled texts."""

    name: str
    description: str
    """One line for help pages."""
    read: Callable[[Iterable[Line], TextOptions, Report], Iterator[LabelledRow]] | None = None
    """From its lines; None for a format that is a folder."""
    read_folder: Callable[[Path, TextOptions, Report], Iterator[LabelledRow]] | None = None
    is_folder: Callable[[Path], bool] | None = None
    """Whether a folder is of this format."""
    suffixes: tuple[str, ...] = ()
    recognise: Callable[[str, TextOptions], str | None] = lambda first, options: None
    """The first line of a file to the reason why it is of this format, or None."""
    rank: int = 0
    """Formats of lower rank are asked first; the last one recognises whatever is left."""
    marks: tuple[str, ...] = ()
    """Marks that texts of this format have without being asked for."""
