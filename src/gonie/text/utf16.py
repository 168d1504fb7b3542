"""Offsets in UTF-16 code units, which index the strings of JavaScript, Java and C#.

gonie counts code points, as Python does. A character beyond U+FFFF, such as most emoji, has two UTF-16 code
units, so all offsets after it differ.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Callable, Iterable, Mapping
from itertools import chain
from typing import Any, Literal

Offsets = Literal["codepoints", "utf16"]
"""The unit of the offsets in a record."""

TWO_UNITS = re.compile("[\U00010000-\U0010ffff]")
"""A character that has two UTF-16 code units."""


def utf16_offsets(text: str) -> Callable[[int], int] | None:
    """Return a function from offsets in code points to UTF-16 code units, or None if they are all equal.

    ``text[start:end]`` in Python is ``text.slice(convert(start), convert(end))`` in JavaScript. The text is
    read once. The memory depends only on the number of its characters beyond U+FFFF.
    """
    wide = [found.start() for found in TWO_UNITS.finditer(text)]
    return (lambda offset: offset + bisect_left(wide, offset)) if wide else None


def count_utf16(record: Mapping[str, Any]) -> None:
    """Replace the offsets in the record of a document (``Document.to_dict``) by UTF-16 offsets."""
    convert = utf16_offsets(record["text"])
    if convert is None:
        return
    candidates = chain.from_iterable(record.get("nbest", ()))
    places: Iterable[Iterable[dict[str, Any]]] = (
        record["spans"],
        record["tokens"],
        *(candidate["spans"] for candidate in candidates),
    )
    for place in chain.from_iterable(places):
        place["start"], place["end"] = convert(place["start"]), convert(place["end"])
