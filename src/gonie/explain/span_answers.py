"""The spans that a tagger finds, asked for again with unknown words in the place of some."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from gonie.explain.answers import in_blocks
from gonie.explain.erased import Keep, masked
from gonie.explain.odds import Floats, from_probabilities
from gonie.tasks.tagging.tagger import Tagger
from gonie.text.types import Sentence


class SpanAnswer(NamedTuple):
    """That the tokens from ``start`` on carry just these tags, by their numbers."""

    sentence: Sentence
    start: int
    tags: tuple[int, ...]

    @property
    def end(self) -> int:
        """The token after the last."""
        return self.start + len(self.tags)

    @property
    def tokens(self) -> int:
        """M, of the whole sentence."""
        return len(self.sentence)


class SpanAnswers:
    """A tagger's answers; their probability is the one that a span has as its score."""

    def __init__(self, predictor: Tagger) -> None:
        self._predictor = predictor

    def log_odds(self, questions: Iterable[tuple[SpanAnswer, Keep]]) -> Floats:
        """The log-odds of each span where all tokens but those of its ``Keep`` are unknown words: (Q,)."""
        found = [np.zeros(0)]
        for block in in_blocks(questions, lambda question: question[0].tokens):
            found.append(from_probabilities(self._probabilities(block)))
        return np.concatenate(found)

    def _probabilities(self, block: Sequence[tuple[SpanAnswer, Keep]]) -> Floats:
        """p of each span; spans of the same sentence with the same words missing are scored once."""
        keys = [(id(answer.sentence), keep.tobytes()) for answer, keep in block]
        numbers = {key: number for number, key in enumerate(dict.fromkeys(keys))}
        distinct = dict(zip(keys, block, strict=True))
        scores = self._predictor.emissions(
            [masked(answer.sentence, keep) for answer, keep in distinct.values()]
        )
        lengths = np.array([answer.tokens for answer, _ in block], dtype=np.int64)
        emissions = _padded([scores[numbers[key]] for key in keys], lengths)  # (Q, T, K)
        tags = np.zeros(emissions.shape[:2], dtype=np.int64)  # (Q, T)
        for row, (answer, _) in zip(tags, block, strict=True):
            row[answer.start : answer.end] = answer.tags
        lattice = self._predictor.decoder.forward_backward(emissions, lengths)
        starts, ends = zip(*((answer.start, answer.end) for answer, _ in block), strict=True)
        return lattice.path_probabilities(np.arange(len(block)), starts, ends, tags)


def _padded(rows: Sequence[NDArray[np.float32]], lengths: NDArray[np.int64]) -> NDArray[np.float32]:
    table = np.zeros((len(rows), int(lengths.max()), rows[0].shape[1]), dtype=np.float32)
    for place, row in zip(table, rows, strict=True):
        place[: len(row)] = row
    return table
