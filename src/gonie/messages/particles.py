"""Korean particles, which depend on the last sound of the word before them: 토큰은, 레시피는.

A word in Latin letters or digits counts as it is read aloud in Korean: 3 is 삼, "token" is 토큰.
"""

from __future__ import annotations

import re
from typing import Literal

Sound = Literal["vowel", "ㄹ", "consonant"]
"""How a word ends. 으로 becomes 로 after a vowel and after ㄹ."""

FIRST, LAST, FINALS, RIEUL = 0xAC00, 0xD7A3, 28, 8
"""The range of Hangul syllables, the number of their final consonants with none, and the number of ㄹ."""
DIGITS: dict[str, Sound] = {
    **dict.fromkeys("036", "consonant"),
    **dict.fromkeys("178", "ㄹ"),
    **dict.fromkeys("2459", "vowel"),
}
LETTERS: dict[str, Sound] = {"L": "ㄹ", "R": "ㄹ", "M": "consonant", "N": "consonant"}
"""Letters whose Korean name ends in a consonant."""
WORD = 4
"""From this length on, capitals are read as a word, such as FILE, and not letter by letter."""
_ENDINGS: tuple[tuple[re.Pattern[str], Sound], ...] = (
    (re.compile(r"le?$"), "ㄹ"),  # label, file
    (re.compile(r"([mn]|[aeiou][mn]e|ng)$"), "consonant"),  # token, name
    (re.compile(r"(^|[^aeiou])[aeiou](ck|[bkpt])$|out$"), "consonant"),  # set, map, out
)


def with_particle(before: str, pair: tuple[str, str]) -> str:
    """Return the one of two particles that follows the text: the form after a consonant is first."""
    after_consonant, after_vowel = pair
    sound = last_sound(before)
    if sound is None:
        return f"{after_consonant}({after_vowel})"
    if sound == "ㄹ" and after_consonant.startswith("으"):
        return after_vowel
    return after_vowel if sound == "vowel" else after_consonant


def last_sound(text: str) -> Sound | None:
    """Return how a text ends when it is read aloud, without quotes, brackets and punctuation after it."""
    if text.rstrip("'\"`”’)]} ").endswith("%"):
        return "vowel"  # 퍼센트
    spoken = re.search(r"[0-9A-Za-z가-힣][^0-9A-Za-z가-힣]*$", text)
    if spoken is None:
        return None
    last = spoken[0][0]
    if FIRST <= ord(last) <= LAST:
        final = (ord(last) - FIRST) % FINALS
        return "vowel" if final == 0 else "ㄹ" if final == RIEUL else "consonant"
    if last.isdigit():
        return DIGITS[last]
    found = re.search(r"[A-Za-z]+$", text[: spoken.start() + 1])
    word = found[0] if found else last
    if word.isupper() and len(word) < WORD:
        return LETTERS.get(last, "vowel")
    return next((sound for ending, sound in _ENDINGS if ending.search(word.lower())), "vowel")
