"""Pretrained word vectors: read them from common formats, and fit them to a vocabulary.

``read_vectors`` returns the words and their matrix. ``Vectors.table_for`` builds the table of a vocabulary
and reports, as ``Coverage``, which share of it the vectors cover and by which route. The formats are in
``vector_formats``.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from os import PathLike
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from gonie.errors import InputError
from gonie.features.vector_formats import VectorBlock, VectorLayout, blocks, detect
from gonie.features.vocabulary import PADDING, RESERVED, Vocabulary
from gonie.text.fold import fold_text
from gonie.text.normalize import fallbacks, zero_digits
from gonie.text.report import count

EXACT, LOWER, DIGITS, RANDOM = ROUTES = ("exact", "lower case", "digits", "random")
NOWHERE = -1  # row index of a word without a vector
_ZEROS = re.compile("00+")
SHOWN = 10  # frequent words without a vector listed in a coverage


@dataclass(frozen=True, slots=True)
class Coverage:
    """Numbers of words of a vocabulary, as types and as tokens, that got their vector by each route.

    The routes are ``exact``, ``lower case``, ``digits`` and ``random`` (no vector, to be learned). Only words
    seen in training are counted. ``frequent`` are the most frequent words with a random vector.
    """

    types: Mapping[str, int]
    tokens: Mapping[str, int]
    frequent: tuple[str, ...] = ()

    @property
    def found(self) -> float:
        """The share of tokens that have a vector, 0 to 1."""
        return 1.0 - self.share(RANDOM)

    def share(self, route: str) -> float:
        """Return the share of tokens matched by ``route``, 0 to 1."""
        return self.tokens[route] / max(1, sum(self.tokens.values()))

    def __str__(self) -> str:
        routes = (f"{route} {self.types[route]:,} ({self.share(route):.1%} of tokens)" for route in ROUTES)
        lines = [f"vectors cover {_found(self.types)} types, {_found(self.tokens)} tokens", ", ".join(routes)]
        if self.frequent:
            lines.append(f"most frequent without: {' '.join(self.frequent)}")
        return "\n".join(lines)


class PretrainedVectors(NamedTuple):
    """The vectors of a vocabulary: ``matrix`` (V, D), and in ``found`` (V,) which rows come from the file.

    ``coverage`` is that of the file. Vectors of another model have none.
    """

    matrix: NDArray[np.float32]
    found: NDArray[np.bool_]
    coverage: Coverage | None = None


@dataclass(frozen=True, slots=True)
class FoldedRows:
    """Row indices of vectors by word in lower case (``lower``), and also with digits as 0 (``zeroed``)."""

    lower: Mapping[str, int]
    zeroed: Mapping[str, int]

    @classmethod
    def of(cls, words: list[str], wanted: list[str]) -> FoldedRows:
        """Index all ``words`` of the vectors in one pass. The first word of each wanted key is kept."""
        lower_keys = {word.lower() for word in wanted}
        zero_keys = {zero_digits(key) for key in lower_keys if zero_digits(key) != key or "0" in key}
        lower: dict[str, int] = {}
        zero: dict[str, int] = {}
        for row, word in enumerate(words if wanted else ()):
            key = word.lower()
            if key in lower_keys:
                lower.setdefault(key, row)
            if (key := zero_digits(key)) in zero_keys:
                zero.setdefault(key, row)
        return cls(lower=lower, zeroed=zero)


@dataclass(frozen=True)
class Vectors:
    """Distinct words and their vectors: row i of ``matrix`` (N, D) belongs to ``words[i]``."""

    words: list[str]
    matrix: NDArray[np.float32]
    path: Path
    format: str
    notes: tuple[str, ...] = ()

    def __len__(self) -> int:
        return len(self.words)

    @property
    def width(self) -> int:
        """The length D of a vector."""
        return int(self.matrix.shape[1])

    @cached_property
    def index(self) -> dict[str, int]:
        """The row of each word."""
        return {word: row for row, word in enumerate(self.words)}

    def table_for(self, vocabulary: Vocabulary, rng: np.random.Generator) -> PretrainedVectors:
        """Return the table (V, D) of a vocabulary, and the coverage of the vectors.

        A word without a vector, and the unknown word, start uniform in ±sqrt(3 / D): mean square 1 / D, a
        length of about 1. Row 0, padding, is zero.
        """
        strings = vocabulary.strings
        rows, routes = self.look_up(strings)
        found = len(RESERVED) + np.flatnonzero(rows != NOWHERE)  # (F,) ids with a vector
        matrix = np.empty((len(vocabulary), self.width), dtype=np.float32)  # (V, D)
        random = np.ones(len(vocabulary), dtype=bool)
        random[found] = False
        reach = np.sqrt(3.0 / self.width)
        matrix[random] = rng.random((int(random.sum()), self.width), dtype=np.float32) * (2 * reach) - reach
        matrix[found] = self.matrix[rows[found - len(RESERVED)]]
        matrix[PADDING] = 0.0
        return PretrainedVectors(matrix, ~random, _coverage(vocabulary, routes))

    def look_up(self, words: list[str]) -> tuple[NDArray[np.int64], NDArray[np.int8]]:
        """Return for each word its row, or -1, and the index of its route in ``ROUTES``; both (N,).

        The first of these keys that exists is used: the word itself; its lower case; the first vector with
        that lower case; the word, then its lower case, with each digit 0; its numbers of two digits or more
        as # (GoogleNews); the first vector equal to it up to case and digits; the coarser digit keys of
        ``normalize.fallbacks``. So ``mid-0000s`` of a vocabulary matches ``mid-1990s`` of the vectors. Files
        are ordered by frequency, so the most frequent word with a key represents it.
        """
        rows = np.fromiter((self.index.get(word, NOWHERE) for word in words), np.int64, count=len(words))
        routes = np.where(rows == NOWHERE, ROUTES.index(RANDOM), ROUTES.index(EXACT)).astype(np.int8)
        missing = np.flatnonzero(rows == NOWHERE).tolist()
        folded = FoldedRows.of(self.words, [words[i] for i in missing])
        for i in missing:
            route, rows[i] = self._fall_back(words[i], folded)
            routes[i] = ROUTES.index(route)
        return rows, routes

    def _fall_back(self, word: str, folded: FoldedRows) -> tuple[str, int]:
        """Return the route and row of a word without an exact match."""
        tries = self._tries(word, folded)
        return next(((route, row) for route, row in tries if row is not None), (RANDOM, NOWHERE))

    def _tries(self, word: str, folded: FoldedRows) -> Iterator[tuple[str, int | None]]:
        """Yield the routes of ``look_up`` after the exact one, in order, with the row of each or None."""
        lower = word.lower()
        zero = zero_digits(lower)
        yield LOWER, self.index.get(lower)
        yield LOWER, folded.lower.get(lower)
        for key in (zero_digits(word), zero, _hashed(zero)):
            yield DIGITS, self.index.get(key)
        yield DIGITS, folded.zeroed.get(zero)
        for key in fallbacks(word):
            yield DIGITS, self.index.get(key)


def read_vectors(path: str | PathLike[str], limit: int | None = None, *, fold: bool = False) -> Vectors:
    """Read a file of word vectors, or its first ``limit``. See ``vector_formats`` for the formats.

    With ``fold``, words are folded (``gonie.text.fold``), so that they equal those of a model that folds. A
    repeated word keeps its first vector. Memory stays within about twice the matrix. ``notes`` report
    repeated words, words that are not UTF-8, and a header with a wrong count.
    """
    path = Path(path)
    if limit is not None and limit < 1:
        raise InputError(f"the limit of vectors must be at least 1, got {limit}", path=path)
    layout = detect(path)
    words: dict[str, None] = {}
    parts: list[NDArray[np.float32]] = []
    read = undecoded = 0
    for block in blocks(path, layout, limit):
        read += len(block.words)
        decoded, broken = _decode(block.words)
        undecoded += broken
        parts.append(_first_seen(block, [*map(fold_text, decoded)] if fold else decoded, words))
    if not words:
        raise InputError("the file has no vectors", path=path, fix="Download it again")
    matrix = np.concatenate(parts)  # (N, D)
    notes = _notes(layout, limit, read=read, kept=len(words), undecoded=undecoded)
    return Vectors(words=list(words), matrix=matrix, path=path, format=layout.format, notes=notes)


def _hashed(zero: str) -> str:
    """Replace runs of two or more 0 by #, as in the GoogleNews vectors, which keep single digits."""
    return _ZEROS.sub(lambda run: "#" * len(run.group()), zero)


def _decode(words: list[bytes]) -> tuple[list[str], int]:
    """Decode the words, and count those that are not UTF-8 (their bad bytes are replaced)."""
    try:
        return [word.decode() for word in words], 0
    except UnicodeDecodeError:
        texts = [word.decode(errors="replace") for word in words]
        return texts, sum(text.encode() != word for text, word in zip(texts, words, strict=True))


def _first_seen(block: VectorBlock, decoded: list[str], words: dict[str, None]) -> NDArray[np.float32]:
    """Add the block's new words to ``words``, and return their rows."""
    kept = []
    for row, word in enumerate(decoded):
        if word not in words:
            words[word] = None
            kept.append(row)
    return block.matrix if len(kept) == len(decoded) else block.matrix[np.array(kept, dtype=np.int64)]


def _notes(
    layout: VectorLayout, limit: int | None, *, read: int, kept: int, undecoded: int
) -> tuple[str, ...]:
    notes = []
    if read > kept:
        notes.append(f"{read - kept:,} repeated words: the first vector of each was kept")
    if undecoded:
        notes.append(f"replaced invalid UTF-8 in {count(undecoded, 'word')}")
    if layout.declared is not None and limit is None and read != layout.declared:
        notes.append(f"the header declares {layout.declared:,} vectors, but the file has {read:,}")
    return tuple(notes)


def _coverage(vocabulary: Vocabulary, routes: NDArray[np.int8]) -> Coverage:
    """Count the routes of the words seen in training. ``routes`` (V - 2,) starts at id 2."""
    routes = routes[: vocabulary.trained - len(RESERVED)]
    counts = vocabulary.counts[len(RESERVED) : vocabulary.trained]
    types = np.bincount(routes, minlength=len(ROUTES)).tolist()
    tokens = np.bincount(routes, weights=counts, minlength=len(ROUTES)).astype(np.int64).tolist()
    missing = np.flatnonzero(routes == ROUTES.index(RANDOM))[:SHOWN] + len(RESERVED)
    return Coverage(
        types=dict(zip(ROUTES, types, strict=True)),
        tokens=dict(zip(ROUTES, tokens, strict=True)),
        frequent=tuple(vocabulary.string(id) for id in missing.tolist()),
    )


def _found(counts: Mapping[str, int]) -> str:
    total = sum(counts.values())
    found = total - counts[RANDOM]
    return f"{found:,} of {total:,} ({found / max(1, total):.1%})"
