"""The description of a file format: how to read, write and recognise it.

A format is a module of this package with a value ``TAGGED`` (sentences with one tag per token), ``LABELLED``
(texts with labels), ``PAIRS`` (pairs of texts), or several of them. A module with ``ROWS`` reads a form of
table, whose rows can hold any of the three. ``table`` collects all of them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, NamedTuple

from gonie.formats.content import Content, FileHead
from gonie.text.labelled_text import LabelledRow, PairOptions, TextOptions
from gonie.text.report import Report
from gonie.text.schemes import Policy, Scheme
from gonie.text.tokenizers.protocol import Tokenizer
from gonie.text.types import Sentence

Tokenize = Callable[[str], list[Sentence]]
"""Splits a text into sentences of tokens with offsets."""


class WordUnit(NamedTuple):
    """The unit of a Korean model's words, which the words of a file must have, too.

    ``scheme`` is that of the file's tags. Without it, the tags of words that are cut anew are dropped.
    ``shots`` says that the words are those of examples of an in-context model, which has no unit of its own.
    """

    tokenizer: Tokenizer
    scheme: Scheme | None = None
    shots: bool = False

    @classmethod
    def of(
        cls, tokenizer: Tokenizer, scheme: Scheme | None = None, *, shots: bool = False
    ) -> WordUnit | None:
        """Return the unit of a tokenizer. Other languages than Korean have only one, and so need none."""
        return cls(tokenizer, scheme, shots) if tokenizer.language == "ko" else None


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadOptions:
    """Options for reading a file of tagged sentences. Options that are not set are detected and reported.

    ``tag_column`` is an index or, in CoNLL-U and tables, also a name (in CoNLL-U also ``misc:Key``).
    ``tag_names`` are the names of tags that a table has as numbers. ``tokenizer`` splits raw text. ``unit``
    is the unit that the words must have; without it, words are read as they are in the file. With a
    ``scheme``, given as a value or by name, the tags are checked while reading, and ``repair`` is the policy
    for invalid ones. With ``"auto"`` they are not checked (``tagged.survey`` detects the scheme). ``meta``
    are the names of values of whole texts to read.
    """

    format: str = "auto"
    separator: str = "auto"
    word_column: int | None = None
    tag_column: int | str | None = None
    tag_names: tuple[str, ...] = ()
    columns: Mapping[str, int] = field(default_factory=dict)
    tokenizer: Tokenize | None = None
    unit: WordUnit | None = None
    scheme: Scheme | str = "auto"
    repair: Policy = "error"
    meta: tuple[str, ...] = ()


def _never(head: FileHead) -> str | None:
    return None


@dataclass(frozen=True, kw_only=True)
class Format:
    """What formats of all kinds have."""

    kind: ClassVar[str]
    """What the examples of such files are, in the plural."""

    name: str
    description: str
    """One line for help pages and messages: "Label Studio, as JSON"."""
    suffixes: tuple[str, ...] = ()
    recognise: Callable[[FileHead], str | None] = _never
    """Returns the reason why the beginning of a file is in this format, or None."""
    rank: int = 0
    """Formats are tried in the order of their rank."""
    has_ids: bool = False
    """Whether all examples have ids or numbers."""
    keeps_ids: bool = False
    """Whether ids are read and written. Without it, a file that is written is numbered anew."""
    write: Callable[..., Iterator[str | bytes]] | None = None
    """Converts examples (tagged sentences: and the scheme of their tags) to pieces of a file."""
    write_folder: Callable[..., Mapping[str, bytes]] | None = None
    """Converts examples likewise to the files of a folder, by name, for formats with several files."""


@dataclass(frozen=True, kw_only=True)
class TaggedFormat(Format):
    """A format of tagged sentences."""

    kind = "tagged sentences"

    read: Callable[[Content, ReadOptions, Report], Iterator[Sentence]]
    unit: str | None = None
    """The unit of Korean words in such files, if it is always the same (``gonie.text.units``)."""
    stores_texts: bool = False
    """Whether a file that is written has the text of each sentence, and not only its words."""
    stores_all_spans: bool = False
    """Whether a file that is written also has the gold spans that tokens cannot express."""


@dataclass(frozen=True, kw_only=True)
class LabelledFormat(Format):
    """A format of labelled texts."""

    kind = "labelled texts"

    read: Callable[[Content, TextOptions, Report], Iterator[LabelledRow]]
    marks: tuple[str, ...] = ()
    """The marks that texts of this format have by default."""


@dataclass(frozen=True, kw_only=True)
class PairFormat(Format):
    """A format of pairs of texts."""

    kind = "text pairs"

    read: Callable[[Content, PairOptions, Report], TableRows]


Row = tuple[int, Mapping[str, Any]]
"""The line on which a row begins, and its cells by column."""


class HeaderNames(NamedTuple):
    """What a table without types needs to know about its header.

    A first line with a ``known`` name is a header. Another one is the first row, and its columns have the
    names ``unheaded``: the text first, or numbers. If there are none, the first line is always a header.
    """

    known: Sequence[str] = ()
    unheaded: tuple[str, ...] = ()


class TableRows(NamedTuple):
    """A table that is being read: the line of its header, its columns, and its rows."""

    line: int
    names: Sequence[str]
    rows: Iterator[Row]


@dataclass(frozen=True, kw_only=True)
class RowFormat:
    """A form of table, whose rows can be tagged sentences, labelled texts or pairs.

    ``peek`` returns the ``first_row`` of a file in this form, or None. ``write`` converts rows to pieces of a
    file. ``nested`` says whether cells can be lists, as tagged sentences need. ``unheaded`` returns why a
    file has labelled texts without a header, or None.
    """

    name: str
    description: str
    suffixes: tuple[str, ...]
    peek: Callable[[FileHead], Mapping[str, Any] | None]
    read: Callable[[Content, HeaderNames, Report], TableRows]
    write: Callable[[Iterable[Mapping[str, Any]]], Iterator[str | bytes]]
    nested: bool = True
    unheaded: Callable[[FileHead], str | None] = _never
    rank: int = 5


def first_row(rows: Iterable[Mapping[str, Any]]) -> Mapping[str, Any] | None:
    """Return the first row of a table, with values of later rows where it has none, or None without rows."""
    found: dict[str, Any] | None = None
    for row in rows:
        if found is None:
            found = dict(row)
        found.update({name: row.get(name) for name, value in found.items() if value is None})
        if None not in found.values():
            break
    return found
