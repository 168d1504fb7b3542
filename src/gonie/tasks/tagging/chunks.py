"""Tagging of very long sentences in overlapping chunks, in bounded memory.

Forward–backward over a million tokens needs about ten tables of a million rows. A tag hardly depends on
tokens that are hundreds of positions away. So neighbouring chunks share some tokens, and are joined at a
position where both have the same tags.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from gonie.tasks.tagging.labeller import Tagging, TokenSpan
from gonie.text.entropies import highest

Tag = Callable[[int, int], Tagging]
"""Tags tokens [start, end) of a sentence, independently of all others."""


@dataclass(frozen=True, slots=True)
class Chunk:
    """The tagging of tokens [start, end) of a sentence alone. Its spans are relative to ``start``."""

    start: int
    end: int
    tagging: Tagging

    def borders(self, first: int, last: int) -> set[int]:
        """Return the positions in [first, last) that are not inside a span of the chunk."""
        spans = self._spans(first, last)
        return set(range(first, last)).difference(*(range(span.start + 1, span.end) for span in spans))

    def between(self, first: int, last: int) -> Tagging:
        """Return the tagging of tokens [first, last). Its spans are relative to the sentence."""
        tags, scores, *_ = self.tagging
        inside = slice(first - self.start, last - self.start)
        return Tagging(tags[inside], scores[inside], tuple(self._spans(first, last)))

    def tags(self, first: int, last: int) -> Sequence[str]:
        """Return the tags of tokens [first, last)."""
        return self.tagging.tags[first - self.start : last - self.start]

    def _spans(self, first: int, last: int) -> Iterator[TokenSpan]:
        """Yield the spans that overlap [first, last)."""
        for start, end, label, score in self.tagging.spans:
            if first < self.start + end and self.start + start < last:
                yield TokenSpan(self.start + start, self.start + end, label, score)


def tag_in_chunks(tag: Tag, length: int, *, width: int, shared: int) -> Tagging:
    """Tag a sentence of ``length`` tokens in chunks of ``width`` tokens, which overlap by ``shared`` tokens.

    Neighbours that agree nowhere in the overlap, for example inside a long entity, are tagged again as one
    chunk. The next chunk is as wide, so that a long entity is not tagged over and over. ``width`` must be
    more than twice ``shared``, so that the two overlaps of a chunk are separate.
    """
    found: list[Chunk] = []
    join_points: list[int] = []  # the first token taken from each chunk
    start, wide = 0, width
    while not found or found[-1].end < length:
        chunk = _chunk(tag, start, min(start + wide, length))
        wide = width
        while (begins := join_point(found[-1], chunk) if found else 0) is None:
            join_points.pop()
            chunk = _chunk(tag, found.pop().start, chunk.end)
            wide = chunk.end - chunk.start
        found.append(chunk)
        join_points.append(begins)
        start = chunk.end - shared
    return found[0].tagging if len(found) == 1 else _joined(found, [*join_points, length])


def join_point(left: Chunk, right: Chunk) -> int | None:
    """Return the first token to take from ``right``, as near to the middle of the overlap as possible.

    Both chunks have the same tags at this token and the one before, and no span crosses this position. So
    each pair of neighbouring tags occurs in one of the chunks, and the joined sequence is valid if they are.
    None if there is no such token.
    """
    first, last = right.start, left.end
    agreed = [a == b for a, b in zip(left.tags(first, last), right.tags(first, last), strict=True)]
    here = {first + place for place, both in enumerate(pairwise(agreed), start=1) if all(both)}
    here &= left.borders(first, last) & right.borders(first, last)
    return min(here, key=lambda token: (abs(2 * token - first - last), token), default=None)


def _chunk(tag: Tag, start: int, end: int) -> Chunk:
    return Chunk(start, end, tag(start, end))


def _joined(found: list[Chunk], join_points: list[int]) -> Tagging:
    parts = [s.between(first, last) for s, (first, last) in zip(found, pairwise(join_points), strict=True)]
    known = [chunk.tagging.entropies for chunk in found if chunk.tagging.entropies is not None]
    return Tagging(
        tuple(tag for part in parts for tag in part.tags),
        tuple(score for part in parts for score in part.scores),
        tuple(span for part in parts for span in part.spans),
        entropies=highest(known) if known else None,
    )
