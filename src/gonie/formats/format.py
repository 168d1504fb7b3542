"""The description of a file format: how to read, write and recognise it.

A format is a module of this package with a value ``TAGGED`` (sentences with one tag per token), ``LABELLED``
(texts with labels), or both. ``table`` collects them.
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
"""Splits a text into sentences of tokens with offsets."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadOptions:
    """Options for reading a file of tagged sentences. Options that are not set are detected and reported.

    ``tag_column`` is an index or, in CoNLL-U, also a field name or ``misc:Key``. ``tokenizer`` splits raw
    text (JSONL). With a ``scheme``, given as a value or by name, the tags are checked while reading, and
    ``repair`` is the policy for invalid ones. With ``"auto"`` they are not checked (``tagged.survey`` detects
    the scheme).
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
    """Converts sentences, given the scheme of their tags, to pieces of text."""
    suffixes: tuple[str, ...] = ()
    recognise: Callable[[Sequence[str]], str | None] = _never
    """Returns the reason why the first non-empty lines of a file are in this format, or None."""
    rank: int = 0
    """Formats are tried in the order of their rank. The last one accepts every file."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LabelledFormat:
    """A format of labelled texts."""

    name: str
    description: str
    """One line for help pages."""
    read: Callable[[Iterable[Line], TextOptions, Report], Iterator[LabelledRow]] | None = None
    """Reads the lines of a file. None if the format is a folder."""
    read_folder: Callable[[Path, TextOptions, Report], Iterator[LabelledRow]] | None = None
    is_folder: Callable[[Path], bool] | None = None
    """Returns whether a folder is in this format."""
    suffixes: tuple[str, ...] = ()
    recognise: Callable[[str, TextOptions], str | None] = lambda first, options: None
    """Returns the reason why the first line of a file is in this format, or None."""
    rank: int = 0
    """Formats are tried in the order of their rank. The last one accepts every file."""
    marks: tuple[str, ...] = ()
    """The marks that texts of this format have by default."""
