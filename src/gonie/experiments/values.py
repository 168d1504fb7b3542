"""Lists of values on the command line."""

from __future__ import annotations

CLOSING = {"[": "]", "{": "}", "(": ")"}


def split_values(text: str) -> list[str]:
    """Split ``a,b,c`` at the commas that are not in brackets or quotes.

    A quote opens a quoted text only at the beginning of a value, so ``it's,b`` is two values.
    """
    values, begin, at = [], 0, 0
    closing: list[str] = []
    fresh = True  # whether a value may begin here
    while at < len(text):
        letter = text[at]
        if letter in "\"'" and fresh:
            at = _after_quote(text, at) - 1
        elif letter in CLOSING:
            closing.append(CLOSING[letter])
        elif closing and letter == closing[-1]:
            closing.pop()
        elif letter == "," and not closing:
            values.append(text[begin:at])
            begin = at + 1
        fresh = letter in ",[{(=" or (fresh and letter.isspace())
        at += 1
    return [value.strip() for value in (*values, text[begin:])]


def _after_quote(text: str, at: int) -> int:
    """Return the end of the quoted text that begins at ``at``. An unclosed quote is an ordinary character."""
    quote, escape = text[at], text[at] == '"'
    end = at + 1
    while end < len(text):
        if escape and text[end] == "\\":
            end += 1
        elif text[end] == quote:
            return end + 1
        end += 1
    return at + 1
