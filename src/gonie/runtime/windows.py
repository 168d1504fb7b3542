"""Overlapping windows over a sentence too long to be read in one piece.

Each window is scored on its own, and neighbours are joined in the middle of what they share, so that every
token kept has at least half an overlap of context on each side. The joined scores are decoded as one chain,
or a few (``gonie.tasks.tagging.chunks``): no tag is ever cut at a seam.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

WINDOW, OVERLAP = 512, 128  # tokens of a window, and those that two neighbours share


@dataclass(frozen=True, slots=True)
class TokenWindow:
    """Tokens [start, end) are read; the scores of [first, last) are kept."""

    start: int
    end: int
    first: int
    last: int


def cut_windows(length: int, *, width: int, overlap: int) -> list[TokenWindow]:
    """Windows of at most ``width`` tokens, neighbours sharing ``overlap``, that keep each token once.

    >>> [(w.start, w.end, w.first, w.last) for w in cut_windows(10, width=6, overlap=2)]
    [(0, 6, 0, 5), (4, 10, 5, 10)]
    """
    starts = list(range(0, max(length - overlap, 1), width - overlap))
    seams = [0, *(start + overlap // 2 for start in starts[1:]), length]
    return [
        TokenWindow(start=start, end=min(start + width, length), first=seams[i], last=seams[i + 1])
        for i, start in enumerate(starts)
    ]


def keeping(windows: Sequence[TokenWindow], start: int, end: int) -> list[TokenWindow]:
    """Those windows that keep a token of [start, end), each keeping no other tokens.

    >>> [(w.start, w.end, w.first, w.last) for w in keeping(cut_windows(10, width=6, overlap=2), 6, 8)]
    [(4, 10, 6, 8)]
    """
    return [
        replace(window, first=max(window.first, start), last=min(window.last, end))
        for window in windows
        if window.first < end and start < window.last
    ]
