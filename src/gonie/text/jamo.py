"""Hangul syllables as their letters (jamo) and back, so that a character network can see inside a syllable.

A syllable block is arithmetic: with initial i of 19, medial m of 21 and final f of 28 (0 = none) its code
point is ``0xAC00 + (i * 21 + m) * 28 + f`` (The Unicode Standard, section 3.12). The letters that come out
are the conjoining ones, so an initial ㄱ (U+1100) and a final ㄱ (U+11A8) are different characters:
한 becomes U+1112 U+1161 U+11AB. Everything that is not a Hangul syllable stays as it is.
"""

from __future__ import annotations

import re

SYLLABLE, INITIAL, MEDIAL, FINAL = 0xAC00, 0x1100, 0x1161, 0x11A7
MEDIALS, FINALS = 21, 28

_SYLLABLE = re.compile("[가-힣]")
# A syllable block without a final, or an initial with its medial; then perhaps a final.
_JAMO = re.compile("([\u1100-\u1112][\u1161-\u1175]|[가-힣])([\u11a8-\u11c2]?)")


def decompose(text: str) -> str:
    """Every Hangul syllable of ``text`` as its two or three letters: 한글 gives six characters."""
    return _SYLLABLE.sub(lambda found: _letters(found.group()), text)


def compose(text: str) -> str:
    """Letters joined to syllables wherever they form one: ``compose(decompose(text)) == text``.

    The equality holds for a text without loose conjoining letters; where there are some, they join, as in
    Unicode's composed form (NFC) of Hangul.
    """
    return _JAMO.sub(lambda found: _syllable(found.group(1), found.group(2)), text)


def _letters(syllable: str) -> str:
    """The letters of one syllable; final 0 means there is none."""
    rest, final = divmod(ord(syllable) - SYLLABLE, FINALS)
    initial, medial = divmod(rest, MEDIALS)
    return chr(INITIAL + initial) + chr(MEDIAL + medial) + (chr(FINAL + final) if final else "")


def _syllable(body: str, final: str) -> str:
    """One syllable of its body (a block, or initial + medial) and its final, which may be empty."""
    if len(body) == 2:
        initial, medial = ord(body[0]) - INITIAL, ord(body[1]) - MEDIAL
        body = chr(SYLLABLE + (initial * MEDIALS + medial) * FINALS)
    closed = (ord(body) - SYLLABLE) % FINALS != 0
    if not final or closed:
        return body + final
    return chr(ord(body) + ord(final) - FINAL)
