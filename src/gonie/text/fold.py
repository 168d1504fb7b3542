"""Fold a text: one form for characters that readers take to be the same, with offsets into the original.

The fold of a text is its composed form (NFC), with the width of letters and loose jamo unified:

| written as                          | folded                     |
|-------------------------------------|----------------------------|
| decomposed: ``e`` + acute, ᄒ + ᅡ + ᆫ | ``é``, 한 (NFC)            |
| full-width letters, digits, blanks  | ASCII: Ａ is ``A``         |
| half-width katakana and jamo        | ｶﾞ is ガ, ﾡ is ㄱ          |
| conjoining jamo outside a syllable  | compatibility jamo: ᄏ is ㅋ |

Compatibility jamo typed in sequence (ㅎㅏㄴ) stay, and so do ligatures, superscripts, circled numbers, old
Hangul and letter case. ``gonie.text.tokenizers.folding`` is a coarser fold, which only tokenizer rules see.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping, Sequence
from itertools import takewhile
from types import MappingProxyType
from typing import NamedTuple

from gonie.text.jamo import loose_to_compatibility


class Folded(NamedTuple):
    """A folded text. ``places[i]`` is the offset in the original text at which ``text[i]`` begins.

    ``places`` has one more value, the length of the original. It never decreases. Characters that were folded
    together and cannot be told apart begin and end together: all but the first begin at their common end.
    """

    text: str
    places: Sequence[int]


_WIDTHS: Mapping[int, str] = MappingProxyType(
    {
        code: chr(int(decomposition.split()[1], 16))
        for code in (0x3000, *range(0xFF01, 0xFFEF))
        if (decomposition := unicodedata.decomposition(chr(code))).startswith(("<wide>", "<narrow>"))
    }
)
_CHANGED = re.compile(
    "[\u1100-\u1112\u1161-\u1175\u11a8-\u11c2" + "".join(map(re.escape, map(chr, _WIDTHS))) + "]"
)
# A character with those that may compose with it (J), or one that changes by itself (S).
_CLUSTER = re.compile("[^J]?J+|S")
# Letters that may compose with the one before: vowels and finals of Hangul, vowels of Kirat Rai.
_JOINING_LETTER = re.compile("[\u1160-\u11ff\U00016d63-\U00016d6a]")


def fold_text(text: str) -> str:
    """Return the folded text alone: ``fold(text).text``."""
    if _unchanged(text):
        return text
    return loose_to_compatibility(unicodedata.normalize("NFC", text.translate(_WIDTHS)))


def fold(text: str) -> Folded:
    """Fold a text, keeping the offsets of its characters. An already folded text is returned itself."""
    if _unchanged(text):
        return Folded(text, range(len(text) + 1))
    wide = text.translate(_WIDTHS)  # one for one
    if unicodedata.is_normalized("NFC", wide):
        return Folded(loose_to_compatibility(wide), range(len(text) + 1))  # also one for one
    pieces: list[str] = []
    places: list[int] = []
    at = 0
    for cluster in _CLUSTER.finditer(wide.translate(_Roles())):
        start, end = cluster.span()
        composed = unicodedata.normalize("NFC", wide[start:end])
        pieces += wide[at:start], composed
        places += range(at, start)
        places += [start] if len(composed) == 1 else _places(wide[start:end], composed, start)
        at = end
    pieces.append(wide[at:])
    places += range(at, len(wide) + 1)
    return Folded(loose_to_compatibility("".join(pieces)), places)


def _unchanged(text: str) -> bool:
    """Return whether the text is folded, as nearly all texts are. For old Hangul, the answer is always no."""
    return text.isascii() or (_CHANGED.search(text) is None and unicodedata.is_normalized("NFC", text))


def _places(original: str, composed: str, at: int) -> list[int]:
    """Return where each character of a composed cluster begins, if the original begins at ``at``."""
    before = _common(original, composed)
    after = _common(original[before:][::-1], composed[before:][::-1])
    end = len(original) - after
    within = len(composed) - before - after  # characters that differ
    changed = [before, *[end] * (within - 1)] if within else []
    return [at + place for place in (*range(before), *changed, *range(end, len(original)))]


def _common(one: str, other: str) -> int:
    """Return the length of the longest common beginning."""
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(one, other, strict=False)))


class _Roles(dict[int, str]):
    """A table for ``str.translate`` to the roles of characters in ``_CLUSTER``."""

    def __missing__(self, code: int) -> str:
        self[code] = role = _role(chr(code))
        return role


def _role(character: str) -> str:
    if unicodedata.category(character)[0] == "M" or _JOINING_LETTER.match(character):
        return "J"
    return "x" if unicodedata.is_normalized("NFC", character) else "S"
