"""The score of a classifier in training, on dev or on other texts: encoded once, scored as at run time."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import torch
from numpy.typing import NDArray

from gonie.data.batching import sorted_batches
from gonie.data.text_encoding import TextEncoding
from gonie.data.texts.text import Text
from gonie.metrics.calibration import fit_temperature
from gonie.metrics.classes import evaluate_classes
from gonie.metrics.significance import Tally
from gonie.models.classifier import Classifier
from gonie.models.elmo_cache import Note, with_layers
from gonie.models.scorer import to_tensors

BATCH_TOKENS, BATCH_TEXTS = 16_000, 512
METRICS = {"relation_f1": "relation F1", "f1": "F1"}
"""What a score is called on display, if not by its own name."""


class TextJudge:
    """The score on the dev texts (or any others with labels): accuracy, F1, or F1 of relations."""

    def __init__(
        self,
        model: Classifier,
        encoding: TextEncoding,
        texts: Sequence[Text],
        *,
        folder: str | None = None,
        note: Note | None = None,
    ) -> None:
        self._model = model
        self._encoding = encoding
        self._texts = texts
        corpus = encoding.encode(texts)
        self._corpus = corpus.with_sentences(with_layers(model, corpus.sentences, folder, note))
        name, _ = self._evaluate(np.zeros((len(texts), len(encoding.labels)), dtype=np.float32))
        self.metric = METRICS.get(name, name)

    def score(self) -> float:
        """Score the model as it is now."""
        return self._evaluate(self.scores())[1]

    def tally(self) -> Tally:
        """The labels of each text, gold and given."""
        return Tally.from_labels(self._texts, self._given(self.scores()))

    def temperature(self) -> float:
        """By what the model's scores are to be divided for its probabilities to be right."""
        scores, gold = self.scores().astype(np.float64), self._corpus.labels.astype(np.int64)
        return fit_temperature(scores, gold, doubt=1 / (len(gold) + 2))

    @torch.inference_mode()
    def scores(self) -> NDArray[np.float32]:
        """Scores of every label for every text, as the model is now: (N, K)."""
        corpus = self._corpus
        device = next(self._model.parameters()).device
        scores = np.empty((len(corpus), len(self._encoding.labels)), dtype=np.float32)
        batches = sorted_batches(
            corpus.lengths, heights=corpus.heights, tokens=BATCH_TOKENS, sentences=BATCH_TEXTS
        )
        was_training = self._model.training
        self._model.eval()
        for rows in batches:
            scores[rows] = self._model(to_tensors(corpus.batch(rows), device)).float().cpu().numpy()
        self._model.train(was_training)
        return scores

    def _given(self, scores: NDArray[np.float32]) -> list[tuple[str, ...]]:
        """The labels that the scores stand for: the best one, or each that is likelier than not."""
        labels = self._encoding.labels
        if self._encoding.several:
            return [tuple(labels[k] for k in np.flatnonzero(row >= 0)) for row in scores]
        return [(labels[k],) for k in scores.argmax(axis=1)]

    def _evaluate(self, scores: NDArray[np.float32]) -> tuple[str, float]:
        chances = np.full(scores.shape, 1 / scores.shape[1])  # they do not matter for the headline
        several = self._encoding.several
        found = evaluate_classes(
            self._texts, self._given(scores), chances, self._encoding.labels, several=several, bootstrap=0
        )
        return found.headline
