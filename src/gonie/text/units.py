"""The units of Korean words: eojeol, morpheme, syllable, and how to tell them apart.

A model learns words of one unit. Words of another one are unknown to it, and its scores on them say nothing.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from gonie.text.tokenizers.korean import SyllableTokenizer

EOJEOL, MORPHEME, SYLLABLE, CHARACTER = "eojeol", "morpheme", "syllable", "character"
"""Units of words. Characters include spaces, so words of any unit can be cut from them."""
_PARTICLES = "은 는 을 를 의 에 에서 에게 으로 로 와 과 가 고 며 었 았 ㄴ ㄹ ㄴ다 는다"
PARTICLES = frozenset(_PARTICLES.split())
"""Particles and endings that are hardly ever eojeols, because they follow other morphemes."""
SHARE = 0.08
"""The least share of ``PARTICLES`` in morphemes. It is 19% in KLUE; in eojeols, of KLUE and GSD, it is 1%."""
ENOUGH = 50
"""The number of Korean words from which the absence of particles tells that words are eojeols."""
_HANGUL = re.compile("[ㄱ-ㆎ가-힣\u1100-\u11ff]")


def is_korean(texts: Iterable[str]) -> bool:
    """Return whether most letters of the texts are Hangul."""
    letters = hangul = 0
    for text in texts:
        letters += sum(map(str.isalpha, text))
        hangul += len(_HANGUL.findall(text))
    return 2 * hangul > letters


def has_hangul(texts: Iterable[str]) -> bool:
    """Return whether any letter of the texts is Hangul."""
    return any(map(_HANGUL.search, texts))


def are_syllables(words: Iterable[str]) -> bool:
    """Return whether every Korean word is one syllable, in whatever Unicode form."""
    cut = SyllableTokenizer()
    return all(sum(map(len, cut(word))) == 1 for word in set(words) if _HANGUL.search(word))


def guess_unit(words: Iterable[str]) -> tuple[str | None, str]:
    """Return the unit of Korean words and the reason. It is None if the words are too few or not Korean."""
    korean = [word for word in words if _HANGUL.search(word)]
    if not korean:
        return None, "there are no Korean words"
    if are_syllables(korean):
        return SYLLABLE, "every Korean word is one syllable"
    number = sum(word in PARTICLES for word in korean)
    if number > 1 and number >= SHARE * len(korean):
        return MORPHEME, f"{number:,} of {len(korean):,} Korean words are particles or endings"
    if len(korean) < ENOUGH:
        return None, f"{len(korean):,} Korean words are too few to tell"
    return EOJEOL, f"only {number:,} of {len(korean):,} Korean words are particles or endings"
