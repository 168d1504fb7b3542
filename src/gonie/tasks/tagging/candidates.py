"""The n-best taggings of a sentence, each with its probability."""

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

MOST = 100  # maximum number of taggings per sentence, because they take memory
CELLS = 1 << 21  # maximum size of the largest table of a search, which limits the sentences of a batch


class Candidates:
    """Finds the ``most`` taggings of each sentence with the highest p(y | x) = exp(score(x, y) / T) / Z.

    T is the temperature of ``decoder``. ``labels`` and ``scheme`` are those of the model.
    """

    def __init__(self, *, decoder: Decoder, labels: Sequence[str], scheme: Scheme, most: int) -> None:
        if not 1 <= most <= MOST:
            raise InputError(f"nbest must be from 1 to {MOST}: {most:,}")
        self._decoder = decoder
        self._labels = tuple(labels)
        self._scheme = scheme
        self.most = most

    def __call__(
        self, sentences: Sequence[Sentence], emissions: NDArray[np.float32], lengths: NDArray[np.int64]
    ) -> list[tuple[Candidate, ...]]:
        """Return the candidates of each sentence, best first, or all if there are fewer.

        Shape: B sentences, emissions (B, T, K), lengths (B,)
        """
        totals = self._decoder.forward_backward(emissions, lengths).log_partition()  # (B,)
        found: list[tuple[Candidate, ...]] = []
        for some in self._batches(emissions):
            # (B, n, T), (B, n)
            paths, scores = self._decoder.nbest(emissions[some], lengths[some], self.most)
            scores = scores / self._decoder.temperature
            chances = np.exp(np.minimum(scores - totals[some, None], 0.0))  # (B, n): rounding may exceed 0
            rows = zip(sentences[some], paths, chances, strict=True)
            found += [tuple(self._candidates(*row)) for row in rows]
        return found

    def _batches(self, emissions: NDArray[np.float32]) -> Iterator[slice]:
        """Return slices of the sentences that are searched together."""
        number, tokens, tags = emissions.shape
        step = max(1, CELLS // (self.most * tags * max(tags, tokens)))
        return (slice(at, at + step) for at in range(0, number, step))

    def _candidates(self, sentence: Sentence, paths: Ints, chances: Floats) -> Iterator[Candidate]:
        """Yield the candidates of one sentence. Shape: paths (n, T), chances (n,)."""
        text, edges = sentence.surface, sentence.edges()
        for path, chance in zip(paths.tolist(), chances.tolist(), strict=True):
            if path[0] < 0:  # there are no more
                return
            tags = tuple(self._labels[tag] for tag in path[: len(sentence)])
            spans = (text_span(text, edges, found) for found in to_spans(tags, self._scheme))
            yield Candidate(tags, chance, tuple(spans))
