"""What the model says of one sentence, by token, before it becomes part of a document."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import accumulate, pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from gonie.runtime.decoder import Decoder
from gonie.runtime.forward_backward import Lattice
from gonie.tasks.tagging.decoding import Decoding
from gonie.text.schemes import Scheme, to_spans
from gonie.text.types import Candidate, Edges, Span


class TokenSpan(NamedTuple):
    """Tokens [start, end) form an entity; ``score`` is the probability that they carry just these tags."""

    start: int
    end: int
    label: str
    score: float


class Tagging(NamedTuple):
    """Tags of a sentence in the model's own scheme, the marginal of each, and the spans they form.

    ``windows`` is how many overlapping windows a very long sentence was scored in; 1 for any other.
    ``candidates`` are the sentence's likeliest taggings, where they were asked for.
    """

    tags: tuple[str, ...] = ()
    scores: tuple[float, ...] = ()
    spans: tuple[TokenSpan, ...] = ()
    windows: int = 1
    candidates: tuple[Candidate, ...] = ()


def text_span(text: str, edges: Edges, span: tuple[int, int, str], score: float | None = None) -> Span:
    """Tokens [start, end) with a label as a stretch of ``text``, in which tokens have these ``edges``."""
    starts, ends = edges
    start, end = starts[span[0]], ends[span[1] - 1]
    return Span(start=start, end=end, label=span[2], text=text[start:end], score=score)


class Labeller:
    """Emissions in, taggings out: decoding, probabilities and spans for a whole batch at once."""

    def __init__(
        self, *, decoder: Decoder, labels: Sequence[str], scheme: Scheme, decoding: Decoding
    ) -> None:
        self._decoder = decoder
        self._by = decoding.by
        self._tilt = decoding.tilt(labels, scheme)  # (K,)
        self._tilted = bool(self._tilt.any())
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
        seams = accumulate(map(len, found), initial=0)
        return [
            Tagging(
                tuple(row), tuple(chance[: len(row)]), tuple(_scored(spans, scores[a:b])) if spans else ()
            )
            for row, chance, spans, (a, b) in zip(
                names, chances.tolist(), found, pairwise(seams), strict=True
            )
        ]

    def _decode(self, lattice: Lattice) -> NDArray[np.int64]:
        emissions, lengths = lattice.emissions + self._tilt, lattice.lengths
        if self._by == "posterior":
            return self._decoder.posterior(emissions, lengths)[0]
        return self._decoder.best_tags(emissions, lengths) if self._tilted else self._decoder.best_of(lattice)


def _scored(spans: list[tuple[int, int, str]], scores: list[float]) -> Iterator[TokenSpan]:
    return (TokenSpan(*span, score) for span, score in zip(spans, scores, strict=True))
