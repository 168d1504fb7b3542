"""Eojeols in the columns of tagged morphemes: which eojeol a morpheme belongs to.

Korean corpora list morphemes by eojeol, the unit between spaces. Readers keep its number in the column
``eojeol``.
"""

from __future__ import annotations

from collections.abc import Sequence

from gonie.text.types import Sentence

EOJEOL, POS = "eojeol", "pos"
"""Columns with the number of the eojeol in its sentence, and with parts of speech."""


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
