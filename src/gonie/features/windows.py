"""Overlapping windows over a sentence that is too long to be scored at once.

Each window is scored separately. Neighbours are joined in the middle of their overlap, so every token has at
least half an overlap of context on each side. The joined scores are decoded as one chain, or a few
(``gonie.tasks.tagging.chunks``), so no entity is cut between two windows.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

WINDOW, OVERLAP = 512, 128  # tokens per window, and tokens that two neighbours share


@dataclass(frozen=True, slots=True)
class TokenWindow:
    """A window: the tokens [start, end) are scored, and the scores of [first, last) are used."""

    start: int
    end: int
    first: int
    last: int


def cut_windows(length: int, *, width: int, overlap: int) -> list[TokenWindow]:
    """Return windows of at most ``width`` tokens, with ``overlap``, that use each token exactly once.

    >>> [(w.start, w.end, w.first, w.last) for w in cut_windows(10, width=6, overlap=2)]
    [(0, 6, 0, 5), (4, 10, 5, 10)]
    """
    starts = list(range(0, max(length - overlap, 1), width - overlap))
    seams = [0, *(start + overlap // 2 for start in starts[1:]), length]
    return [
        TokenWindow(start=start, end=min(start + width, length), first=seams[i], last=seams[i + 1])
        for i, start in enumerate(starts)
    ]


def clip_windows(windows: Sequence[TokenWindow], start: int, end: int) -> list[TokenWindow]:
    """Return the windows that use a token of [start, end), clipped to that range.

    >>> [(w.start, w.end, w.first, w.last) for w in clip_windows(cut_windows(10, width=6, overlap=2), 6, 8)]
    [(4, 10, 6, 8)]
    """
    return [
        replace(window, first=max(window.first, start), last=min(window.last, end))
        for window in windows
        if window.first < end and start < window.last
    ]
