"""Locate tokens in a text, and convert character spans to token spans.

Offsets are never adjusted to make a span fit. Words that are not in the text give no offsets. A gold span
whose ends are not token boundaries is returned with the reason.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import chain

from gonie.text.schemes import TokenSpan

CharSpan = tuple[int, int, str]
"""Characters ``[start, end)`` and their label."""


def locate(text: str, words: Iterable[str]) -> tuple[tuple[int, ...], tuple[int, ...]] | None:
    """Return the starts and ends of the words in the text, or None.

    The result is None unless the words in order, apart from white space, make up the whole text.
    """
    starts, ends = [], []
    at = 0
    for word in words:
        start = text.find(word, at)
        if start < 0 or (start > at and not text[at:start].isspace()):
            return None
        at = start + len(word)
        starts.append(start)
        ends.append(at)
    if text[at:].strip():
        return None
    return tuple(starts), tuple(ends)


@dataclass(frozen=True, slots=True)
class Refused:
    """A character span that no token range matches, and the reason.

    The reason is phrased to be read after the span.
    """

    span: CharSpan
    reason: str


@dataclass(frozen=True, slots=True)
class Alignment:
    """Spans on token boundaries, as token ranges per sentence, and the spans that were refused."""

    spans: list[list[TokenSpan]]
    refused: list[Refused]


def align(text: str, sentences: Sequence[Sequence[tuple[int, int]]], spans: Iterable[CharSpan]) -> Alignment:
    """Convert character spans to token ranges. ``sentences`` holds the token offsets of each sentence.

    Of overlapping spans, the first is kept. Of overlapping spans with the same start, the longest is kept.
    """
    tokens = [
        (start, end, number, index)
        for number, offsets in enumerate(sentences)
        for index, (start, end) in enumerate(offsets)
    ]
    first = {start: (number, index) for start, _, number, index in tokens}
    last = {end: (number, index) for _, end, number, index in tokens}
    alignment = Alignment([[] for _ in sentences], [])
    taken: CharSpan | None = None
    for span in sorted(spans, key=lambda span: (span[0], -span[1])):
        opening, closing = first.get(span[0]), last.get(span[1])
        if opening is None:
            reason = f"begins {_inside(text, sentences, span[0])}"
        elif closing is None:
            reason = f"ends {_inside(text, sentences, span[1] - 1)}"
        elif opening[0] != closing[0]:
            reason = "crosses a sentence boundary"
        elif taken is not None and span[0] < taken[1]:
            reason = f"overlaps {taken[2]} {text[taken[0] : taken[1]]!r}"
        else:
            alignment.spans[opening[0]].append((opening[1], closing[1] + 1, span[2]))
            taken = span
            continue
        alignment.refused.append(Refused(span, reason))
    return alignment


def _inside(text: str, sentences: Sequence[Sequence[tuple[int, int]]], at: int) -> str:
    """Describe the token at this character, or say that there is none."""
    for start, end in chain.from_iterable(sentences):
        if start <= at < end:
            return f"inside the token {text[start:end]!r}"
    return f"at {text[at]!r}, which is in no token"
