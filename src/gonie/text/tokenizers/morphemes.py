"""Format the analyses of a surface token as one string for a column: "하/VV+었/EP".

A form or a tag may contain any character. ``/``, ``+`` and the backslash are escaped by a backslash. White
space is written as its code, ``\\x20;``, so the string never breaks a column file.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from gonie.errors import InputError
from gonie.text.types import Morpheme

_SPECIAL = re.compile(r"[\\/+]|\s")
_ESCAPE = re.compile(r"\\(?:x([0-9a-f]++);|(.))", re.DOTALL)
_TEXT = r"(?:[^\\/+]|\\.)*+"
_ANALYSIS = re.compile(rf"({_TEXT})/({_TEXT})", re.DOTALL)


def format_morphemes(morphemes: Iterable[Morpheme]) -> str:
    """Format morphemes as ``form/tag`` joined by ``+``. This is the inverse of ``parse_morphemes``."""
    return "+".join(format_morpheme(*morpheme) for morpheme in morphemes)


def format_morpheme(form: str, tag: str) -> str:
    """Format one morpheme as ``form/tag``."""
    return f"{escape(form)}/{escape(tag)}"


def escape(text: str) -> str:
    """Escape a form or a tag."""
    if text.isalnum():  # nearly all are
        return text
    return _SPECIAL.sub(
        lambda match: f"\\x{ord(match[0]):x};" if match[0].isspace() else "\\" + match[0], text
    )


def parse_morphemes(text: str) -> tuple[Morpheme, ...]:
    """Parse the result of ``format_morphemes``. The empty string gives no morphemes."""
    found: list[Morpheme] = []
    at = 0 if text else len(text) + 1
    while at <= len(text):
        match = _ANALYSIS.match(text, at)
        if match is None or text[match.end() : match.end() + 1] not in ("", "+"):
            raise InputError(
                f"invalid morphemes {text!r}",
                fix="Write form/tag joined by +, such as 하/VV+었/EP. Escape /, + and \\ with a backslash",
            )
        found.append(Morpheme(form=_unescaped(match[1]), tag=_unescaped(match[2])))
        at = match.end() + 1
    return tuple(found)


def _unescaped(text: str) -> str:
    return _ESCAPE.sub(lambda match: chr(int(match[1], 16)) if match[1] else match[2], text)
