"""Inline marks: ``<e1>…</e1>`` in a text becomes a span with offsets.

Relation extraction is classification of a text with two marked nominals. The marks are removed from the text.
``passages`` inserts them again as separate tokens.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from gonie.errors import InputError
from gonie.text.types import Span


def cut_marks(
    text: str, names: Sequence[str], *, path: str | None = None, line: int | None = None
) -> tuple[str, tuple[Span, ...]]:
    """Return the text without the marks of these names, and the marked spans in the order in which they open.

    Marks may nest, overlap or occur more than once. A mark that is never closed or never opened raises an
    error.
    """
    if not names:
        return text, ()
    pieces: list[str] = []
    opened: dict[str, list[tuple[int, int]]] = {}  # offset and number of the mark
    ranges: list[tuple[int, int, int, str]] = []  # start, -end, number of the mark, name
    at = length = 0
    for number, match in enumerate(re.finditer(f"<(/?)({'|'.join(map(re.escape, names))})>", text)):
        pieces.append(text[at : match.start()])
        length += len(pieces[-1])
        at = match.end()
        closing, name = match.groups()
        if not closing:
            opened.setdefault(name, []).append((length, number))
        elif opened.get(name):
            start, which = opened[name].pop()
            ranges.append((start, -length, which, name))
        else:
            raise _unpaired(f"</{name}> without <{name}>", path, line)
    left = [name for name, starts in opened.items() if starts]
    if left:
        raise _unpaired(f"<{left[0]}> without </{left[0]}>", path, line)
    clean = "".join([*pieces, text[at:]])
    return clean, tuple(Span(start, -end, name, clean[start:-end]) for start, end, _, name in sorted(ranges))


def with_marks(text: str, marks: Sequence[Span]) -> str:
    """Write the marks into the text again. This is the inverse of ``cut_marks``."""
    signs: list[tuple[int, int, int, str]] = []  # offset, closing before opening, inner before outer
    for order, mark in enumerate(sorted(marks, key=lambda mark: (mark.start, -mark.end))):
        before, after = mark_words(mark.label)
        empty = mark.start == mark.end
        signs += [(mark.start, 1, order, before), (mark.end, 2 if empty else 0, -order, after)]
    pieces, at = [], 0
    for place, _, _, sign in sorted(signs):
        pieces += [text[at:place], sign]
        at = place
    return "".join([*pieces, text[at:]])


def mark_words(name: str) -> tuple[str, str]:
    """Return the tokens before and after a marked span."""
    return f"<{name}>", f"</{name}>"


def _unpaired(marks: str, path: str | None, line: int | None) -> InputError:
    return InputError(f"unpaired mark: {marks}", path=path, line=line)
