"""A sentence of any length in bounded memory: it is tagged in stretches, which are joined where they agree.

Sums over all sequences of a million tokens would want ten tables of a million rows. A tag hardly depends on
what is hundreds of tokens away, so neighbouring stretches share some tokens, and within them both say the
same. There one ends and the other begins.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from gonie.tasks.tagging.labeller import Tagging, TokenSpan

Tag = Callable[[int, int], Tagging]
"""Tags tokens [start, end) of a sentence as if there were no others."""


@dataclass(frozen=True, slots=True)
class Stretch:
    """Tokens [start, end) of a sentence, and what was made of them alone; its spans count from ``start``."""

    start: int
    end: int
    tagging: Tagging

    def borders(self, first: int, last: int) -> set[int]:
        """The tokens of [first, last) before which no span of the stretch is open."""
        spans = self._spans(first, last)
        return set(range(first, last)).difference(*(range(span.start + 1, span.end) for span in spans))

    def between(self, first: int, last: int) -> Tagging:
        """What was made of tokens [first, last); its spans count from the sentence's first token."""
        tags, scores, *_ = self.tagging
        inside = slice(first - self.start, last - self.start)
        return Tagging(tags[inside], scores[inside], tuple(self._spans(first, last)))

    def tags(self, first: int, last: int) -> Sequence[str]:
        """The tags of tokens [first, last)."""
        return self.tagging.tags[first - self.start : last - self.start]

    def _spans(self, first: int, last: int) -> Iterator[TokenSpan]:
        """Those that have a token of [first, last)."""
        for start, end, label, score in self.tagging.spans:
            if first < self.start + end and self.start + start < last:
                yield TokenSpan(self.start + start, self.start + end, label, score)


def tag_in_stretches(tag: Tag, length: int, *, width: int, shared: int) -> Tagging:
    """``tag`` of a sentence of ``length`` tokens, of at most ``width`` at once as long as neighbours agree.

    Neighbours that agree nowhere among the ``shared`` tokens, as when an entity covers them all, are tagged
    as one, and what follows is taken to be as long, so that no entity of any length is tagged over and over.
    ``width`` is more than twice ``shared``, lest a stretch have two seams in one place.
    """
    found: list[Stretch] = []
    seams: list[int] = []  # the token from which each counts
    start, wide = 0, width
    while not found or found[-1].end < length:
        stretch = _stretch(tag, start, min(start + wide, length))
        wide = width
        while (begins := seam(found[-1], stretch) if found else 0) is None:
            seams.pop()
            stretch = _stretch(tag, found.pop().start, stretch.end)
            wide = stretch.end - stretch.start
        found.append(stretch)
        seams.append(begins)
        start = stretch.end - shared
    return found[0].tagging if len(found) == 1 else _joined(found, [*seams, length])


def seam(left: Stretch, right: Stretch) -> int | None:
    """The token from which ``right`` goes on; of many the one with most tokens shared on either side.

    Both give the token and the one before it the same tags, and no span of either crosses the place: what is
    joined there has no two neighbours that one of them has not, so it is as legal as they are.
    """
    first, last = right.start, left.end
    agreed = [a == b for a, b in zip(left.tags(first, last), right.tags(first, last), strict=True)]
    here = {first + place for place, both in enumerate(pairwise(agreed), start=1) if all(both)}
    here &= left.borders(first, last) & right.borders(first, last)
    return min(here, key=lambda token: (abs(2 * token - first - last), token), default=None)


def _stretch(tag: Tag, start: int, end: int) -> Stretch:
    return Stretch(start, end, tag(start, end))


def _joined(found: list[Stretch], seams: list[int]) -> Tagging:
    parts = [s.between(first, last) for s, (first, last) in zip(found, pairwise(seams), strict=True)]
    return Tagging(
        tuple(tag for part in parts for tag in part.tags),
        tuple(score for part in parts for score in part.scores),
        tuple(span for part in parts for span in part.spans),
    )
