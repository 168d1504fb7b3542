"""The labels that a classifier gives texts, asked for again with words taken out."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np

from gonie.explain.answers import in_blocks
from gonie.explain.erased import Keep, without
from gonie.explain.odds import Floats, log_odds
from gonie.explain.reader import PassageReader
from gonie.text.passages import Passage


class TextAnswer(NamedTuple):
    """That the passage has the label of this number."""

    passage: Passage
    label: int

    @property
    def tokens(self) -> int:
        """M, over all sentences."""
        return sum(map(len, self.passage.sentences))


class TextAnswers:
    """A classifier's answers; their log-odds are those of its calibrated probabilities."""

    def __init__(self, reader: PassageReader) -> None:
        self._reader = reader

    def log_odds(self, questions: Iterable[tuple[TextAnswer, Keep]]) -> Floats:
        """The log-odds of each answer where only the tokens of its ``Keep`` are left. Shape: (Q,)."""
        found = [np.zeros(0)]
        for block in in_blocks(questions, lambda question: 1 + int(question[1].sum())):
            readings = self._reader.read([without(answer.passage, keep) for answer, keep in block])
            scores = np.stack([reading.scores for reading in readings]) / self._reader.temperature  # (Q, K)
            labels = np.array([answer.label for answer, _ in block], dtype=np.int64)
            found.append(log_odds(scores, labels, several=self._reader.encoding.several))
        return np.concatenate(found)
