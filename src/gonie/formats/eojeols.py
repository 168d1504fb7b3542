"""Sentences of tagged morphemes, and which eojeol each morpheme belongs to.

Korean corpora list morphemes by eojeol, the unit between spaces. Readers keep its number in the column
``eojeol``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

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
