"""Tagging by token: decoding a batch of scores into tags, probabilities and spans."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from itertools import accumulate, pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from gonie.runtime.decoder import Decoder
from gonie.runtime.forward_backward import Lattice
from gonie.tasks.tagging.decoding import Decoding
from gonie.text.schemes import Scheme, keep_types, to_spans
from gonie.text.types import Candidate, Edges, Span


class TokenSpan(NamedTuple):
    """An entity of tokens [start, end). ``score`` is the calibrated probability of exactly these tags."""

    start: int
    end: int
    label: str
    score: float


class Tagging(NamedTuple):
    """The tags of a sentence in the model's scheme, the marginal of each, and the spans that they form.

    ``windows`` is the number of overlapping windows of a very long sentence, otherwise 1. ``candidates`` are
    the n-best taggings, if requested.
    """

    tags: tuple[str, ...] = ()
    scores: tuple[float, ...] = ()
    spans: tuple[TokenSpan, ...] = ()
    windows: int = 1
    candidates: tuple[Candidate, ...] = ()


def of_types(tagging: Tagging, scheme: Scheme, types: Collection[str]) -> Tagging:
    """Return the tagging with only the entities of these types."""
    spans = tuple(span for span in tagging.spans if span.label in types)
    return tagging._replace(tags=tuple(keep_types(tagging.tags, scheme, types)), spans=spans)


def text_span(text: str, edges: Edges, span: tuple[int, int, str], score: float | None = None) -> Span:
    """Return a labelled span of tokens as a span of ``text``. ``edges`` are the offsets of its tokens."""
    starts, ends = edges
    start, end = starts[span[0]], ends[span[1] - 1]
    return Span(start=start, end=end, label=span[2], text=text[start:end], score=score)


class Labeller:
    """Decodes the scores of a batch into taggings with probabilities and spans."""

    def __init__(
        self, *, decoder: Decoder, labels: Sequence[str], scheme: Scheme, decoding: Decoding
    ) -> None:
        self._decoder = decoder
        self._by = decoding.by
        self._biases = decoding.tag_biases(labels, scheme)  # (K,)
        self._biased = bool(self._biases.any())
        self._labels = tuple(labels)
        self._scheme = scheme

    def __call__(self, emissions: NDArray[np.float32], lengths: NDArray[np.int64]) -> list[Tagging]:
        """Shape: emissions (B, T, K), lengths (B,) -> B taggings."""
        emissions, lengths = self._decoder.checked(emissions, lengths)
        lattice = self._decoder.lattice(emissions, lengths)
        tags = self._decode(lattice)  # (B, T)
        chances = lattice.chances(tags)  # (B, T)
        names = [[self._labels[k] for k in row[:n]] for row, n in zip(tags.tolist(), lengths, strict=True)]
        found = [to_spans(row, self._scheme) for row in names]
        places = [(row, start, end) for row, spans in enumerate(found) for start, end, _ in spans]
        rows, starts, ends = zip(*places, strict=True) if places else ((), (), ())
        scores = lattice.path_probabilities(rows, starts, ends, tags).tolist()
        join_points = accumulate(map(len, found), initial=0)
        return [
            Tagging(
                tuple(row), tuple(chance[: len(row)]), tuple(_scored(spans, scores[a:b])) if spans else ()
            )
            for row, chance, spans, (a, b) in zip(
                names, chances.tolist(), found, pairwise(join_points), strict=True
            )
        ]

    def _decode(self, lattice: Lattice) -> NDArray[np.int64]:
        emissions, lengths = lattice.emissions + self._biases, lattice.lengths
        if self._by == "posterior":
            return self._decoder.posterior(emissions, lengths)[0]
        return self._decoder.best_tags(emissions, lengths) if self._biased else self._decoder.best_of(lattice)


def _scored(spans: list[tuple[int, int, str]], scores: list[float]) -> Iterator[TokenSpan]:
    return (TokenSpan(*span, score) for span, score in zip(spans, scores, strict=True))
