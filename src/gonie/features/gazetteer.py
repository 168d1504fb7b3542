"""Gazetteers: lists of names (cities, companies, people) as features of the tokens that they cover.

Each list is matched separately, longest entry first, from left to right. The lists are part of the model and
are saved in its bundle.
"""

from __future__ import annotations

import csv
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from os import PathLike
from pathlib import Path
from typing import Any

from gonie.errors import InputError
from gonie.system.files import unreadable
from gonie.text.report import count
from gonie.text.types import Sentence

Tokenize = Callable[[str], Sequence[str]]


@dataclass(frozen=True, slots=True)
class Entries:
    """The entries of one list in order, each a tuple of tokens. ``notes`` say what was skipped."""

    entries: tuple[tuple[str, ...], ...]
    notes: tuple[str, ...] = ()


class Gazetteers:
    """Extract features ``list=B``, ``list=I``, ``list=E`` (match of several tokens) and ``list=S`` (of one).

    ``lists`` maps the name of a list to its entries, tuples of tokens. With ``fold``, case is ignored.
    """

    name = "gazetteer"

    def __init__(self, *, lists: Mapping[str, Iterable[Sequence[str]]], fold: bool = True) -> None:
        self.fold = fold
        self._lists = {
            name: _Matcher(self._key(entry) for entry in entries) for name, entries in lists.items()
        }

    @property
    def sizes(self) -> dict[str, int]:
        """The number of distinct entries of each list."""
        return {name: len(matcher.entries) for name, matcher in self._lists.items()}

    def extract(self, sentence: Sentence) -> list[list[str]]:
        """Return the feature strings of every token."""
        features: list[list[str]] = [[] for _ in sentence.words]
        tokens = self._key(sentence.words)
        for name, matcher in self._lists.items():
            for start, end in matcher.matches(tokens):
                for place, part in zip(range(start, end), _parts(end - start), strict=True):
                    features[place].append(f"{name}={part}")
        return features

    def to_json(self) -> dict[str, Any]:
        """Return plain values for the bundle.

        An entry is its tokens joined by spaces, or a list if one of them contains a space.
        """
        lists = {name: [_packed(e) for e in sorted(matcher.entries)] for name, matcher in self._lists.items()}
        return {"name": self.name, "fold": self.fold, "lists": lists}

    @classmethod
    def from_json(cls, saved: Mapping[str, Any]) -> Gazetteers:
        """Restore the gazetteers from the result of ``to_json``."""
        lists = {name: map(_unpacked, entries) for name, entries in saved["lists"].items()}
        return cls(lists=lists, fold=bool(saved["fold"]))

    def _key(self, tokens: Sequence[str]) -> tuple[str, ...]:
        return tuple(token.casefold() for token in tokens) if self.fold else tuple(tokens)


class _Matcher:
    """Match the entries of one list, through a dictionary from first token to the lengths to try.

    The time per sentence is linear in its length, times the number of lengths that share a first token.
    """

    def __init__(self, entries: Iterable[tuple[str, ...]]) -> None:
        self.entries = {entry for entry in entries if entry}
        lengths: dict[str, set[int]] = {}
        for entry in self.entries:
            lengths.setdefault(entry[0], set()).add(len(entry))
        self._lengths = {first: tuple(sorted(found, reverse=True)) for first, found in lengths.items()}

    def matches(self, tokens: tuple[str, ...]) -> Iterator[tuple[int, int]]:
        """Yield ranges [start, end) of the longest entries, from left to right, without overlap."""
        at = 0
        while at < len(tokens):
            length = self._longest(tokens, at)
            if length:
                yield at, at + length
            at += length or 1

    def _longest(self, tokens: tuple[str, ...], at: int) -> int:
        """Return the length of the longest entry that starts at ``at``, or 0."""
        for length in self._lengths.get(tokens[at], ()):
            if at + length <= len(tokens) and tokens[at : at + length] in self.entries:
                return length
        return 0


def read_entries(
    path: str | PathLike[str],
    *,
    column: int | str | None = None,
    header: bool = False,
    tokenize: Tokenize = str.split,
) -> Entries:
    """Read the entries of a list from a UTF-8 file, split into tokens by ``tokenize``.

    Without ``column`` each line is an entry. With ``column``, the file is a table separated by tabs (no
    quoting), commas (with quotes) or spaces. The first line decides, in this order. A column is an index from
    0, a negative index from the end, or a name in the first line. ``header`` says that the first line is a
    header. A column name implies it.
    """
    path = Path(path)
    cells = _lines(path) if column is None else _cells(path, column, header=header or isinstance(column, str))
    entries: dict[tuple[str, ...], None] = {}
    empty = repeated = 0
    for cell in cells:
        entry = tuple(tokenize(cell.strip()))
        empty += not entry
        repeated += entry in entries
        if entry:
            entries[entry] = None
    if not entries:
        raise InputError("the list has no entries", path=path)
    named = {"lines without an entry": empty, "repeated entries": repeated}
    notes = tuple(f"{what}: {number:,}" for what, number in named.items() if number)
    return Entries(entries=tuple(entries), notes=notes)


def _lines(path: Path) -> Iterator[str]:
    """Yield the lines of a UTF-8 file, decoded one by one, so that an error names the line of a bad byte."""
    try:
        with path.open("rb") as file:
            for number, line in enumerate(file, start=1):
                yield _decoded(line.removeprefix(b"\xef\xbb\xbf") if number == 1 else line, path, number)
    except OSError as problem:
        raise unreadable(path, problem) from problem


def _decoded(line: bytes, path: Path, number: int) -> str:
    try:
        return line.decode()
    except UnicodeDecodeError as problem:
        raise InputError(
            f"invalid UTF-8: 0x{line[problem.start]:02x} at byte {problem.start + 1} of the line",
            path=path,
            line=number,
            fix="Convert the file to UTF-8",
        ) from problem


def _cells(path: Path, column: int | str, *, header: bool) -> Iterator[str]:
    """Yield the cells of one column of a table. An empty row gives an empty cell."""
    rows = _rows(path)
    first = next(rows, None)
    if first is None:
        return
    place = _place(first[1], column, path)
    for number, row in rows if header else chain([first], rows):
        if row and not -len(row) <= place < len(row):
            raise InputError(
                f"no column {column!r}: the line has {count(len(row), 'column')}",
                path=path,
                line=number,
                fix="Correct or remove the line",
            )
        yield row[place] if row else ""


def _rows(path: Path) -> Iterator[tuple[int, list[str]]]:
    """Yield each row of a table with the number of its last line."""
    lines = _lines(path)
    first = next(lines, "")
    whole = chain([first] if first else [], lines)
    if "\t" not in first and "," not in first:
        yield from enumerate(map(str.split, whole), start=1)
        return
    reader = csv.reader(whole, delimiter="\t", quoting=csv.QUOTE_NONE) if "\t" in first else csv.reader(whole)
    try:
        for row in reader:
            yield reader.line_num, row
    except csv.Error as problem:
        raise InputError(
            f"invalid table row: {problem}",
            path=path,
            line=reader.line_num,
            fix="Close every quotation mark",
        ) from problem


def _place(first: list[str], column: int | str, path: Path) -> int:
    """Return the index of a column, looked up in the first row if it is a name."""
    known = column in first if isinstance(column, str) else -len(first) <= column < len(first)
    if not known:
        raise InputError(
            f"no column {column!r}",
            path=path,
            line=1,
            fix=f"Choose one of {', '.join(map(repr, first[:20]))}, or an index from 0 to {len(first) - 1}",
        )
    return first.index(column) if isinstance(column, str) else column


def _parts(length: int) -> str:
    """Return the letter of each token of a match: S, or B I … E."""
    return "S" if length == 1 else "B" + "I" * (length - 2) + "E"


def _packed(entry: tuple[str, ...]) -> str | list[str]:
    """Return an entry as one string, if splitting it gives the same tokens."""
    joined = " ".join(entry)
    return joined if tuple(joined.split(" ")) == entry else list(entry)


def _unpacked(saved: str | list[str]) -> tuple[str, ...]:
    return tuple(saved.split(" ") if isinstance(saved, str) else saved)
