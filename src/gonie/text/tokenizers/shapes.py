"""Shapes of English tokens, as one regular expression for a chunk without white space.

Order matters. At each position the first matching shape is used, so specific shapes come before general ones,
and the last matches any character. The expression reads folded text (see ``folding``). It ignores case except
inside ``(?-i:…)``.

No shape may fail after a long look-ahead. It would be tried again at the next position, and the time would be
quadratic in the length of the text. Hence the bounds, ``{1,64}``, and the possessive ``++``.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from types import MappingProxyType

from gonie.text.tokenizers.folding import EMOJI_TAIL, PICTURES
from gonie.text.tokenizers.lexicon import (
    ABBREVIATIONS,
    BEFORE_NUMBERS,
    BRANDS,
    CAPITALISED_ONLY,
    FILE_TYPES,
    NEWSGROUPS,
    PREFIXES,
    SUFFIXES,
    TITLES,
    TOP_DOMAINS,
    UNITS,
)


def _any(words: Iterable[str]) -> str:
    """Return an alternation of words, longest first, so that none hides a longer one."""
    return f"(?:{'|'.join(sorted(map(re.escape, words), key=lambda word: (-len(word), word)))})"


# Letters and digits of any script are [^\W_], letters alone [^\W\d_]. Marks are folded into letters.
_NOT_INSIDE = r"(?<![^\W_])"
_NOT_AFTER_LETTER = r"(?<![^\W\d_])"
_NO_LETTER_NEXT = r"(?![^\W_])"
_NAME_NEXT = r"(?=(?-i:[A-Z][a-z]))"

_LINK = r"""[^\s<>"]*[^\s<>"'`.,;:!?)\]}…]"""
_TOP_DOMAIN = rf"(?:(?:com?|net|org|ac|gov|edu)\.[a-z]{{2}}|{_any(TOP_DOMAINS)})"
_FILE_PART = r"[\w~%\#!-]{1,64}+"

_NOSE = "[-'^o]?"
_PICTURE = rf"[{PICTURES}][{EMOJI_TAIL}]*+"

_THOUSANDS = r"\d{1,3}(?:,\d{3}(?!\d)){1,8}+(?:\.\d++)?+"
_AMOUNT = rf"(?:{_THOUSANDS}|\d++,\d{{1,2}}(?![\d,])|\d++(?:[.:]\d++){{0,4}}+)"
_UNIT_NEXT = rf"(?=(?:{_any(UNITS)}|(?-i:[a-z]{{3,30}})){_NO_LETTER_NEXT}|[ap]\.m\b|x\d)"
_FRACTION = r"(?:1/[2-9]|2/3|3/4)(?!\d)"
_MONTH_AND_DAY = rf"(?!{_FRACTION})(?:0?[1-9]|1[0-2])/(?:0?[1-9]|[12]\d|3[01])"

_DOTTED = r"(?:[^\W\d_](?:\.[^\W\d_]){1,12}+|(?:ph|ed)\.d|[bm]\.(?:sc|ed))"
_ANY_CASE = (TITLES | BEFORE_NUMBERS | ABBREVIATIONS) - CAPITALISED_ONLY
_ABBREVIATION = rf"(?=[a-z]{{1,8}}\.)(?:{_any(_ANY_CASE)}|(?=(?-i:[A-Z])){_any(CAPITALISED_ONLY)})"

_AFFIXED = rf"(?<![\w-])(?=[a-z]{{1,8}}-){_any(PREFIXES)}-(?!the\b)(?=[^\W_])"
_CORE = r"[^\W_](?:[\w\u200d]*[^\W_])?(?:'[^\W_]++){0,3}+"

SHAPES: Mapping[str, str] = MappingProxyType(
    {
        "mark": r"(?P<one>[,)\]}\"])(?!(?P=one))",  # the most common first, only for speed
        # web
        "entity": r"&(?:[a-z]{2,8}|\#\d{2,6}|\#x[0-9a-f]{2,6});",
        "link": rf"(?:[a-z][a-z0-9+.-]{{1,15}}://|www\.){_LINK}",
        "email": r"(?:mailto:)?[\w+%-][\w.+%-]{0,63}+@[\w-]{1,63}+(?:\.[\w-]{1,63}+){0,8}+",
        "domain": rf"(?:[^\W_][\w-]{{0,62}}+\.){{1,5}}{_TOP_DOMAIN}(?![\w@])(?:/{_LINK})?",
        "file": rf"(?:{_FILE_PART}(?:\.{_FILE_PART}){{0,2}}?)?\.{_any(FILE_TYPES)}(?!\.?\w)",
        "newsgroup": rf"(?<!\w)(?-i:{_any(NEWSGROUPS)}(?:\.[a-z][a-z0-9+-]{{0,30}}+){{1,8}}+)",
        "path": r"(?<![\w/])(?:[a-z]:\\|~/|/[\w.-]{1,64}+/)[\w./\\-]{0,255}[\w/\\]",
        "mention": r"@[^\W\d_]\w*+(?:\.\w++)*+",
        "hashtag": r"\#(?:[^\W\d_]\w*+|'s(?!\w))",
        "emoji": rf"[\U0001f1e6-\U0001f1ff]{{2}}|[0-9\#*]\ufe0f?\u20e3|{_PICTURE}(?:\u200d{_PICTURE})*+",
        "smile": rf"[>}}]?[:;=]{_NOSE}[)(\]\[]++(?![\w/])|\([-']?[:=](?!\w)",
        "grin": rf"(?<!\w)[>}}]?[:;]{_NOSE}(?:[dpo3/\\|*]|\?(?!\?))(?![\w/])|=[dp](?!\w)",
        "eyes": r"[\^-]_++[\^-](?!\w)|<3(?!\d)",
        # numbers
        "plural": r"(?:[^\W_]{0,20}\d's|(?<!\w)'\d\ds?)(?!\w)",
        "date": rf"(?<!\d/)(?:{_MONTH_AND_DAY}|\d{{1,4}}/\d{{1,2}}/\d{{2,4}})(?![\w/])",
        "phone": r"(?:\d++(?:-\d++){2,8}+|\d++(?:\.\d++){2,8}+)(?![\w-])|(?<!\w)\+\d{1,3}(?!\d)",
        "extension": r"(?:\d{3}/\d{3}-\d{4}|(?:x?\d|\d{3}|\d{5})-\d{4})(?![\w-])",
        "number": rf"{_AMOUNT}(?:{_NO_LETTER_NEXT}|{_UNIT_NEXT})|(?<![\w.])\.\d++(?!\w)",
        "times": r"(?<=\d)x(?=\d)",
        "currency": r"(?<!\w)(?:(?:US|AU|CA|NZ|HK|NT|[ACSU])\$|(?:Rs|USD|EUR|GBP)(?=\d))",
        # words that contain punctuation
        "language": r"(?<!\w)(?:c\+\+|[cf]\#|\.net)(?![\w+\#])",
        "dotted": rf"{_NOT_AFTER_LETTER}(?:{_DOTTED}\.?(?!\w)|(?-i:[A-Z]\.){{1,8}}+{_NAME_NEXT})",
        "initial": rf"{_NOT_INSIDE}(?-i:[A-Z])\.(?![\w.])",
        "abbreviation": rf"{_NOT_INSIDE}{_ABBREVIATION}\.(?!\.)(?:(?!\w)|(?=\d)|{_NAME_NEXT})",
        "ampersand": r"(?<!\w)[^\W\d_]{1,4}&(?:amp;)?[^\W\d_]{1,2}(?![\w;])",
        "slashed": r"(?<![\w/])(?:w/(?:o(?:ut)?(?!\w))?|[^\W\d_]/[^\W\d_](?![\w/]))",
        "masked": r"(?<!\w)[^\W\d_]{1,4}\*++[^\W\d_]++",
        "clipped": r"(?<!['`\w])[^\W\d_]{2,12}in'(?!\w)|'(?:em|til|cause|cuz|bout|round|n)(?!\w)",
        "clitic": r"['`](?:s|ll|re|ve|m|d)(?!\w)",
        "brand": rf"(?<!\w){_any(BRANDS)}!(?!!)",
        "word": rf"(?:{_AFFIXED}|'(?=tis\b|twas\b))?{_CORE}(?:-{_any(SUFFIXES)}(?!\w))?",
        # punctuation
        "stops": r"[.…]{2,}+|[!?]{2,}+(?:\.(?!\.))?+|[!?]\.(?!\.)|\.[!?]++",
        "rule": r"[-=*~_+|<>\#^]{4,}+",
        "arrow": r"<?[-=]{1,3}>|<[-=]{1,3}",
        "quotes": r"`'",
        "run": r"(?P<same>[^\w\s])(?P=same)++|_++",
        "other": r".",
    }
)
"""Name and expression of each shape, in the order they are tried."""

TOKEN = re.compile(
    "|".join(f"(?P<{name}>{shape})" for name, shape in SHAPES.items()), re.IGNORECASE | re.DOTALL
)
"""One token; ``lastgroup`` names its shape."""
