"""Gazetteers: lists of names (cities, companies, people) as features of the tokens that they cover.

Each list is matched separately, longest entry first, from left to right. The lists are part of the model and
are saved in its bundle.

English entries match whole tokens. In Korean, tokens rarely end where names end, and spaces are optional. So
entries match characters: 삼성전자 is found in 삼성전자는 and in 삼성 + 전자 + 는.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate, chain, pairwise
from os import PathLike
from pathlib import Path
from typing import Any, NamedTuple, Protocol

from gonie.errors import InputError
from gonie.system.files import unreadable
from gonie.text.particles import may_follow
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
    ``match`` is a key of ``MATCHERS``: what entries are compared with.
    """

    name = "gazetteer"

    def __init__(
        self, *, lists: Mapping[str, Iterable[Sequence[str]]], fold: bool = True, match: str = "tokens"
    ) -> None:
        self.fold = fold
        self.match = match
        self._lists = {
            name: MATCHERS[match](self._key(entry) for entry in entries) for name, entries in lists.items()
        }

    @property
    def sizes(self) -> dict[str, int]:
        """The number of distinct entries of each list."""
        return {name: len(matcher.entries) for name, matcher in self._lists.items()}

    def extract(self, sentence: Sentence) -> list[list[str]]:
        """Return the feature strings of every token."""
        features: list[list[str]] = [[] for _ in sentence.words]
        view = MATCHERS[self.match].view(self._key(sentence.words), sentence)
        for name, matcher in self._lists.items():
            for start, end in matcher.matches(view):
                for place, part in zip(range(start, end), _parts(end - start), strict=True):
                    features[place].append(f"{name}={part}")
        return features

    def to_json(self) -> dict[str, Any]:
        """Return plain values for the bundle.

        An entry is its tokens joined by spaces, or a list if one of them contains a space.
        """
        lists = {name: [_packed(e) for e in sorted(matcher.entries)] for name, matcher in self._lists.items()}
        return {"name": self.name, "fold": self.fold, "match": self.match, "lists": lists}

    @classmethod
    def from_json(cls, saved: Mapping[str, Any]) -> Gazetteers:
        """Restore the gazetteers from the result of ``to_json``. Older bundles match tokens."""
        lists = {name: map(_unpacked, entries) for name, entries in saved["lists"].items()}
        return cls(lists=lists, fold=bool(saved["fold"]), match=saved.get("match", "tokens"))

    def _key(self, tokens: Sequence[str]) -> tuple[str, ...]:
        return tuple(token.casefold() for token in tokens) if self.fold else tuple(tokens)


class Matcher(Protocol):
    """Finds the entries of one list in sentences."""

    @property
    def entries(self) -> Collection[tuple[str, ...]]:
        """The distinct entries."""

    def __init__(self, entries: Iterable[tuple[str, ...]]) -> None:
        """Create the matcher of some entries. Empty ones are ignored."""

    @staticmethod
    def view(tokens: tuple[str, ...], sentence: Sentence) -> Any:
        """Return what ``matches`` of any list searches: a sentence whose normalised words are ``tokens``."""

    def matches(self, view: Any) -> Iterator[tuple[int, int]]:
        """Yield ranges [start, end) of tokens, longest entries first, from left to right, without overlap."""


class TokenMatcher:
    """Match entries to whole tokens, through a dictionary from first token to the lengths to try.

    The time per sentence is linear in its length, times the number of lengths that share a first token.
    """

    def __init__(self, entries: Iterable[tuple[str, ...]]) -> None:
        self.entries = {entry for entry in entries if entry}
        self._lengths = _lengths(self.entries)

    @staticmethod
    def view(tokens: tuple[str, ...], sentence: Sentence) -> tuple[str, ...]:
        """Return the tokens."""
        return tokens

    def matches(self, view: tuple[str, ...]) -> Iterator[tuple[int, int]]:
        """Yield the ranges of the longest entries."""
        at = 0
        while at < len(view):
            length = self._longest(view, at)
            if length:
                yield at, at + length
            at += length or 1

    def _longest(self, tokens: tuple[str, ...], at: int) -> int:
        """Return the length of the longest entry that starts at ``at``, or 0."""
        for length in self._lengths.get(tokens[at], ()):
            if at + length <= len(tokens) and tokens[at : at + length] in self.entries:
                return length
        return 0


class CharacterMatcher:
    """Match entries to the characters of Korean tokens, without spaces: 서울 대학교 is also 서울대학교.

    An entry starts where a token starts, or after punctuation in it. It ends where a token ends, or before
    particles that end the token. An entry of one syllable, apart from particles, is an eojeol of its own:
    elsewhere one syllable is hardly ever a name. If the text is not known, each token is an eojeol.

    The time per sentence is linear in its length, times the number of lengths that share a first character.
    """

    def __init__(self, entries: Iterable[tuple[str, ...]]) -> None:
        self._names = {without_spaces("".join(entry)) for entry in entries} - {""}
        self.entries = {(name,) for name in self._names}
        self._lengths = _lengths(self._names)

    @staticmethod
    def view(tokens: tuple[str, ...], sentence: Sentence) -> Characters:
        """Return the characters of the tokens."""
        return Characters.of(tokens, sentence)

    def matches(self, view: Characters) -> Iterator[tuple[int, int]]:
        """Yield the ranges of the longest entries."""
        end = 0
        for start in view.starts:
            if view.tokens[start] >= end and (length := self._longest(view, start)):
                end = view.tokens[start + length - 1] + 1
                yield view.tokens[start], end

    def _longest(self, view: Characters, start: int) -> int:
        """Return the length of the longest entry that starts at the character ``start``, or 0."""
        for length in self._lengths.get(view.text[start], ()):
            name = view.text[start : start + length]
            if len(name) == length and name in self._names and _fits(name, start, view):
                return length
        return 0


def _fits(name: str, start: int, view: Characters) -> bool:
    """Tell whether a name at the character ``start`` ends with its token or before particles."""
    end = start + len(name)
    first, last = view.eojeols[end - 1]
    token = view.ends[end - 1]
    if len(name) == 1 and (start != first or token == end):  # not in a token of several characters
        return start == first and may_follow(name, view.text[end:last])
    return may_follow(name, view.text[end : min(token, last)])


MATCHERS: Mapping[str, type[Matcher]] = {"tokens": TokenMatcher, "characters": CharacterMatcher}
"""How entries are matched, by the name in bundles."""


def match_of(language: str) -> str:
    """Return how entries of a language are matched, a key of ``MATCHERS``."""
    return "characters" if language == "ko" else "tokens"


_LETTERS = r"[^\W_ㄱ-ㅣᄀ-ᇿ]+"  # loose jamo, as in 하나ㅋㅋ, are no part of a word
_WORD = re.compile(rf"{_LETTERS}(?:(?<=\d)[.,:](?=\d){_LETTERS})*|.", re.DOTALL)


class Characters(NamedTuple):
    """The characters of a sentence without spaces.

    For each character, ``tokens`` has the index of its token, ``ends`` the end of its token, and ``eojeols``
    the range of its eojeol, of which punctuation is no part. Names may begin at ``starts``.
    """

    text: str
    starts: Sequence[int]
    tokens: Sequence[int]
    ends: Sequence[int]
    eojeols: Sequence[tuple[int, int]]

    @classmethod
    def of(cls, tokens: Sequence[str], sentence: Sentence) -> Characters:
        """Join the normalised words of a sentence."""
        words = [without_spaces(token) for token in tokens]
        ends = list(accumulate(map(len, words)))
        text = "".join(words)
        left, right = sentence.edges()
        spaces = [0, *(end for at, end in enumerate(ends[:-1]) if left[at + 1] > right[at]), len(text)]
        eojeols = [
            match.span()
            for start, end in pairwise(spaces)
            for match in _WORD.finditer(text, start, end)
            for _ in match[0]
        ]
        starts = {end - len(word) for word, end in zip(words, ends, strict=True) if word}
        return cls(
            text=text,
            starts=sorted(starts.union(start for start, _ in eojeols)),
            tokens=[at for at, word in enumerate(words) for _ in word],
            ends=[end for word, end in zip(words, ends, strict=True) for _ in word],
            eojeols=eojeols,
        )


def without_spaces(text: str) -> str:
    """Return a text without white space."""
    return "".join(text.split())


def _lengths(entries: Iterable[Sequence[str]]) -> dict[str, tuple[int, ...]]:
    """Return the lengths of the entries with the same first element, longest first."""
    found: dict[str, set[int]] = {}
    for entry in entries:
        found.setdefault(entry[0], set()).add(len(entry))
    return {first: tuple(sorted(lengths, reverse=True)) for first, lengths in found.items()}


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
