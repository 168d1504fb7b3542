"""Texts that break careless code: all planes of Unicode, combining marks, direction marks, long words."""

from __future__ import annotations

import random

PLAIN = "Anna Kim lives in Seoul ."
FIXED = (
    "",
    " ",
    "  \t ",
    "\n",
    "Anna\nKim\r\nlives\u2028in\u0085Seoul\x0b\x0c.",
    "\x00",
    "Anna\x00Kim",
    "\x01\x02\x1f\x7f\x80\x9f",
    "\ufeffAnna",
    "\ufffe\uffff\ufdd0",
    "👩‍👩‍👧‍👦 Anna 👍🏽 Kim 🇰🇷",
    "𝔄𝔫𝔫𝔞 𐍈 \U0010ffff",
    "e\u0301\u0301\u0301 A\u030a n\u0303",
    "\u0301",
    "각 각 \u1100\u1161\u11a8 \u1100",
    "안나는 서울에 산다.",
    "שלום עולם Anna \u202eKim\u202c \u200fSeoul",
    "مرحبا بالعالم",
    "ﷺ ß ſ İ ı ǅ ﬃ",
    "Ａｎｎａ　Ｋｉｍ",
    '"quotes" \\ back / slash \\u0041 <b>&amp;</b>',
    "a" * 20_000,
    "é" * 5_000,
    "Anna lives . " * 500,
    "." * 500,
    "3.14 -1e10 U.S.A. don't can't 's ...",
    "http://a.b/c?d=e#f mail@host.example",
)


def random_texts(number: int, seed: int = 0) -> list[str]:
    """Return the fixed texts and random mixtures of words and characters of all planes."""
    chance = random.Random(seed)
    return [*FIXED, *(_mixture(chance) for _ in range(number - len(FIXED)))][:number]


def _mixture(chance: random.Random) -> str:
    pieces = []
    for _ in range(chance.randint(0, 12)):
        kind = chance.random()
        if kind < 0.4:
            pieces.append(chance.choice([*PLAIN.split(), "Bert", "Oslo", "it", "rains", "안나는", "👍🏽"]))
        elif kind < 0.5:
            pieces.append(chance.choice(FIXED[:18]))
        else:
            pieces.append("".join(_character(chance) for _ in range(chance.randint(1, 6))))
    return chance.choice(["", " ", "  ", "\n"]).join(pieces)


def _character(chance: random.Random) -> str:
    while True:
        top = chance.choice([0x7F, 0x2FF, 0x36F, 0x6FF, 0x11FF, 0x3130, 0xD7FF, 0xFFFF, 0x1FFFF, 0x10FFFF])
        code = chance.randint(max(0, top - 0x400) if chance.random() < 0.5 else 0, top)
        if not 0xD800 <= code <= 0xDFFF:
            return chr(code)
