"""Tagging by token: decoding a batch of scores into tags, probabilities and spans."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from itertools import accumulate, pairwise
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray

from gonie.runtime.decoder import Decoder
from gonie.runtime.forward_backward import Lattice
from gonie.tasks.tagging.decoding import Decoding
from gonie.text.entropies import Entropies
from gonie.text.schemes import Scheme, keep_types, to_spans
from gonie.text.types import Candidate, Edges, Span


class TokenSpan(NamedTuple):
    """An entity of tokens [start, end). ``score`` is the calibrated probability of exactly these tags.

    It is None if the model has no probabilities.
    """

    start: int
    end: int
    label: str
    score: float | None


class Tagging(NamedTuple):
    """The tags of a sentence in the model's scheme, the marginal of each, and the spans that they form.

    ``windows`` is the number of overlapping windows of a very long sentence, otherwise 1. ``candidates`` are
    the n-best taggings, if requested. ``entropies`` are known if an ensemble has tagged the sentence. A model
    without probabilities gives no ``scores``. ``notes`` say what it could not use. ``failed`` says that it
    gave no answer, or a malformed one.
    """

    tags: tuple[str, ...] = ()
    scores: tuple[float, ...] = ()
    spans: tuple[TokenSpan, ...] = ()
    windows: int = 1
    candidates: tuple[Candidate, ...] = ()
    entropies: Entropies | None = None
    notes: tuple[str, ...] = ()
    failed: bool = False


class TagProbabilities(Protocol):
    """The probabilities of the tag sequences of a batch: those of one model, or of an ensemble."""

    @property
    def lengths(self) -> NDArray[np.int64]:
        """The number of tokens of each sentence: (B,)."""

    def chances(self, tags: NDArray[np.int64]) -> NDArray[np.float64]:
        """Return the probability of the tag of each token: (B, T) -> (B, T)."""

    def path_probabilities(
        self, rows: ArrayLike, starts: ArrayLike, ends: ArrayLike, tags: NDArray[np.int64]
    ) -> NDArray[np.float64]:
        """Return the probability that each of S ranges of tokens has its part of ``tags``: (S,)."""


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
        lattice = self._decoder.forward_backward(emissions, lengths)
        return to_taggings(lattice, self._decode(lattice), self._labels, self._scheme)

    def _decode(self, lattice: Lattice) -> NDArray[np.int64]:
        emissions, lengths = lattice.emissions + self._biases, lattice.lengths
        if self._by == "posterior":
            return self._decoder.posterior(emissions, lengths)[0]
        return self._decoder.best_tags(emissions, lengths) if self._biased else self._decoder.best_of(lattice)


def to_taggings(
    found: TagProbabilities, tags: NDArray[np.int64], labels: Sequence[str], scheme: Scheme
) -> list[Tagging]:
    """Return the taggings of a batch with the ``tags`` (B, T), and their probabilities."""
    chances = found.chances(tags)  # (B, T)
    names = [[labels[k] for k in row[:n]] for row, n in zip(tags.tolist(), found.lengths, strict=True)]
    spans = [to_spans(row, scheme) for row in names]
    places = [(row, start, end) for row, own in enumerate(spans) for start, end, _ in own]
    rows, starts, ends = zip(*places, strict=True) if places else ((), (), ())
    scores = found.path_probabilities(rows, starts, ends, tags).tolist()
    join_points = accumulate(map(len, spans), initial=0)
    return [
        Tagging(tuple(row), tuple(chance[: len(row)]), tuple(_scored(own, scores[a:b])) if own else ())
        for row, chance, own, (a, b) in zip(
            names, chances.tolist(), spans, pairwise(join_points), strict=True
        )
    ]


def _scored(spans: list[tuple[int, int, str]], scores: list[float]) -> Iterator[TokenSpan]:
    return (TokenSpan(*span, score) for span, score in zip(spans, scores, strict=True))
