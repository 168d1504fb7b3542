"""Sentences of tagged morphemes, and which eojeol each morpheme belongs to.

Korean corpora list morphemes by eojeol, the unit between spaces. Readers keep its number in the column
``eojeol``.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from itertools import accumulate, groupby, pairwise
from typing import NamedTuple
from unicodedata import normalize

from gonie.text.alignment import locate
from gonie.text.report import Report
from gonie.text.types import Sentence

EOJEOL, POS = "eojeol", "pos"
"""Columns with the number of the eojeol in its sentence, and with parts of speech."""


def morpheme_sentence(
    words: Sequence[str],
    tags: Sequence[str],
    columns: Mapping[str, Sequence[str]],
    *,
    text: str | None,
    lines: Sequence[int],
    report: Report,
) -> Sentence:
    """Return the sentence of morphemes that stand on ``lines`` of a file, and count it.

    It has offsets if its words make up ``text``. Morphemes of contracted words do not.
    """
    places = None if text is None else locate(text, words)
    report.sentences += 1
    report.tokens += len(words)
    report.rows = lines
    return Sentence(
        words=tuple(words),
        tags=tuple(tags),
        columns={name: tuple(column) for name, column in columns.items()},
        text=text if places else None,
        starts=places[0] if places else (),
        ends=places[1] if places else (),
        path=report.path,
        line=lines[0],
    )


class Piece(NamedTuple):
    """The morphemes [first, last) of a sentence, and the characters [start, end) of its text."""

    first: int
    last: int
    start: int
    end: int


def pieces_of(text: str, words: Sequence[str], numbers: Sequence[str]) -> list[Piece] | None:
    """Return the pieces of a text that its morphemes make, or None if they do not make its eojeols.

    ``numbers`` are the numbers of their eojeols. A morpheme that is written as it is makes a piece alone.
    Morphemes that are contracted (열리 + 었 is 열렸) make one together.
    """
    groups = [list(group) for _, group in groupby(range(len(words)), key=lambda at: numbers[at])]
    written = [(found[0], found.start()) for found in re.finditer(r"\S+", text)]
    if len(groups) != len(written):
        return None
    pieces: list[Piece] = []
    for group, (eojeol, start) in zip(groups, written, strict=True):
        own = _pieces_of_eojeol(eojeol, [words[at] for at in group])
        if own is None:
            return None
        pieces += [Piece(group[0] + a, group[0] + b, start + c, start + d) for a, b, c, d in own]
    return pieces


def _pieces_of_eojeol(eojeol: str, morphemes: Sequence[str]) -> list[Piece] | None:
    """Return the pieces of one eojeol, or None if they do not make it up.

    Contracted morphemes are those between the ones at both ends that are written as they are. They begin with
    the same letter as their piece. If they do not (사 + 아서 is 사서), the morpheme before belongs to them.
    """
    first, start = 0, 0
    while first < len(morphemes) and eojeol.startswith(morphemes[first], start):
        start += len(morphemes[first])
        first += 1
    last, end = len(morphemes), len(eojeol)
    while last > first and eojeol.endswith(morphemes[last - 1], start, end):
        last -= 1
        end -= len(morphemes[last])
    if first == last and start < end:
        return None
    while first < last and _letter(morphemes[first]) != _letter(eojeol[start:end]):
        if first == 0:
            return None
        first -= 1
        start -= len(morphemes[first])
    before = [*accumulate(map(len, morphemes[:first]), initial=0)]
    after = [*accumulate(map(len, morphemes[last:]), initial=end)]
    return [
        *(Piece(at, at + 1, *edges) for at, edges in enumerate(pairwise(before))),
        *([Piece(first, last, start, end)] if first < last else []),
        *(Piece(at, at + 1, *edges) for at, edges in enumerate(pairwise(after), last)),
    ]


def _letter(text: str) -> str:
    """Return the first letter, of a Hangul syllable its initial consonant."""
    return normalize("NFD", text)[:1]


def eojeol_numbers(sentence: Sentence) -> Sequence[str]:
    """Return the number of the eojeol of each word: as read, or by the spaces of the text.

    Words whose text is not known are one eojeol each.
    """
    known = sentence.columns.get(EOJEOL)
    if known is not None:
        return known
    offsets = sentence.offsets()
    numbers, number, before = [], 0, -1
    for start, end in offsets:
        number += before < 0 or sentence.surface[before:start] != ""
        numbers.append(str(number))
        before = end
    return numbers
