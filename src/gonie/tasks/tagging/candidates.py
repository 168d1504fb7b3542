"""What else a sentence may be: its likeliest taggings, each with its probability.

Whoever corrects tags, or looks something up by them, wants to know the second best and how far behind it is.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from gonie.errors import InputError
from gonie.runtime.chain import Floats, Ints
from gonie.runtime.decoder import Decoder
from gonie.tasks.tagging.labeller import text_span
from gonie.text.schemes import Scheme, to_spans
from gonie.text.types import Candidate, Sentence

MOST = 100  # taggings of a sentence; memory grows with them
CELLS = 1 << 21  # numbers in the largest table of a search: sentences are searched together up to that


class Candidates:
    """The ``most`` taggings of highest probability, p(y | x) = exp(score(x, y)) / Z, of each sentence.

    ``labels`` and ``scheme`` are the model's: tags are named by them and spans are read off.
    """

    def __init__(self, *, decoder: Decoder, labels: Sequence[str], scheme: Scheme, most: int) -> None:
        if not 1 <= most <= MOST:
            raise InputError(f"expected 1 to {MOST} taggings of a sentence, got {most:,}")
        self._decoder = decoder
        self._labels = tuple(labels)
        self._scheme = scheme
        self._most = most

    def __call__(
        self, sentences: Sequence[Sentence], emissions: NDArray[np.float32], lengths: NDArray[np.int64]
    ) -> list[tuple[Candidate, ...]]:
        """The candidates of each sentence, best first; all there are where those are fewer.

        Shape: B sentences, emissions (B, T, K), lengths (B,)
        """
        totals = self._decoder.forward_backward(emissions, lengths).log_partition()  # (B,)
        found: list[tuple[Candidate, ...]] = []
        for some in self._together(emissions):
            # (B, n, T), (B, n)
            paths, scores = self._decoder.nbest(emissions[some], lengths[some], self._most)
            chances = np.exp(np.minimum(scores - totals[some, None], 0.0))  # (B, n): no sum is exact
            rows = zip(sentences[some], paths, chances, strict=True)
            found += [tuple(self._named(*row)) for row in rows]
        return found

    def _together(self, emissions: NDArray[np.float32]) -> Iterator[slice]:
        """Which sentences are searched at once."""
        number, tokens, tags = emissions.shape
        step = max(1, CELLS // (self._most * tags * max(tags, tokens)))
        return (slice(at, at + step) for at in range(0, number, step))

    def _named(self, sentence: Sentence, paths: Ints, chances: Floats) -> Iterator[Candidate]:
        """Shape: paths (n, T), chances (n,)."""
        text, edges = sentence.surface, sentence.edges()
        for path, chance in zip(paths.tolist(), chances.tolist(), strict=True):
            if path[0] < 0:  # there are no more
                return
            tags = tuple(self._labels[tag] for tag in path[: len(sentence)])
            spans = (text_span(text, edges, found) for found in to_spans(tags, self._scheme))
            yield Candidate(tags, chance, tuple(spans))
