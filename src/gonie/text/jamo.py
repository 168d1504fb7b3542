"""Split Hangul syllables into letters (jamo) and join them again, and unify loose letters.

A syllable block is arithmetic. With initial i of 19, medial m of 21 and final f of 28 (0 = none), its code
point is ``0xAC00 + (i * 21 + m) * 28 + f`` (The Unicode Standard, section 3.12). The letters are conjoining
jamo, so an initial ㄱ (U+1100) and a final ㄱ (U+11A8) are different characters: 한 becomes U+1112 U+1161
U+11AB. Other characters stay unchanged.

A letter typed by itself, as in ㅋㅋ, is a compatibility jamo (U+314B), with one code for initial and final.
"""

from __future__ import annotations

import re

SYLLABLE, INITIAL, MEDIAL, FINAL = 0xAC00, 0x1100, 0x1161, 0x11A7
MEDIALS, FINALS = 21, 28

INITIAL_LETTERS = "ㄱㄲㄴㄷㄸㄹㅁㅂㅃㅅㅆㅇㅈㅉㅊㅋㅌㅍㅎ"
MEDIAL_LETTERS = "ㅏㅐㅑㅒㅓㅔㅕㅖㅗㅘㅙㅚㅛㅜㅝㅞㅟㅠㅡㅢㅣ"
FINAL_LETTERS = "ㄱㄲㄳㄴㄵㄶㄷㄹㄺㄻㄼㄽㄾㄿㅀㅁㅂㅄㅅㅆㅇㅈㅊㅋㅌㅍㅎ"
"""The letters of a syllable by position, as compatibility jamo, in the order of the conjoining jamo."""

_COMPATIBILITY = {
    first + place: letter
    for first, letters in ((INITIAL, INITIAL_LETTERS), (MEDIAL, MEDIAL_LETTERS), (FINAL + 1, FINAL_LETTERS))
    for place, letter in enumerate(letters)
}
_SYLLABLE = re.compile("[가-힣]")
# A syllable block without a final, or an initial with its medial, then an optional final.
_JAMO = re.compile("([\u1100-\u1112][\u1161-\u1175]|[가-힣])([\u11a8-\u11c2]?)")

# A syllable of old Hangul, which has no block, or a letter of today that is in no syllable.
_LOOSE = re.compile(
    "[\u1100-\u115f\ua960-\ua97c][\u1160-\u11a7\ud7b0-\ud7c6][\u11a8-\u11ff\ud7cb-\ud7fb]?"
    "|(?P<letter>[\u1100-\u1112\u1161-\u1175\u11a8-\u11c2])"
)


def decompose(text: str) -> str:
    """Replace every Hangul syllable of ``text`` by its two or three letters: 한글 gives six characters."""
    return _SYLLABLE.sub(lambda found: _letters(found.group()), text)


def compose(text: str) -> str:
    """Join letters into syllables wherever they form one: ``compose(decompose(text)) == text``.

    The equality holds for a text without loose conjoining letters. Loose letters are joined as well, as in
    Unicode's composed form (NFC) of Hangul.
    """
    return _JAMO.sub(lambda found: _syllable(found.group(1), found.group(2)), text)


def loose_to_compatibility(text: str) -> str:
    """Replace conjoining letters that are in no syllable by compatibility jamo: ᄏᄏ (U+110F) gives ㅋㅋ.

    The text must be composed (NFC), so that a syllable of today is one character. Old Hangul stays.
    """
    return _LOOSE.sub(lambda found: to_letters(found[0]) if found["letter"] else found[0], text)


def to_letters(text: str) -> str:
    """Replace conjoining jamo by the letters that stand alone (compatibility jamo), as people type them.

    Kiwi writes the ending of 간 as U+11AB, which fonts show badly; this gives ㄴ (U+3134).
    """
    return text.translate(_COMPATIBILITY)


def _letters(syllable: str) -> str:
    """Return the letters of one syllable. Final 0 means that there is no final."""
    rest, final = divmod(ord(syllable) - SYLLABLE, FINALS)
    initial, medial = divmod(rest, MEDIALS)
    return chr(INITIAL + initial) + chr(MEDIAL + medial) + (chr(FINAL + final) if final else "")


def _syllable(body: str, final: str) -> str:
    """Join a body (a block, or initial + medial) and a final, which may be empty, into one syllable."""
    if len(body) == 2:
        initial, medial = ord(body[0]) - INITIAL, ord(body[1]) - MEDIAL
        body = chr(SYLLABLE + (initial * MEDIALS + medial) * FINALS)
    closed = (ord(body) - SYLLABLE) % FINALS != 0
    if not final or closed:
        return body + final
    return chr(ord(body) + ord(final) - FINAL)
