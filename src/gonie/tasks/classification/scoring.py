"""Scoring a classifier on texts with gold labels."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np

from gonie.metrics.classes import ClassEvaluation, evaluate_classes
from gonie.tasks.evaluation import by_score, entropy_scores, evenly
from gonie.text.labelled_text import LabelledText
from gonie.text.noise import edited
from gonie.text.noise_levels import NoiseLevel
from gonie.text.types import Classification, Span

MAJORITY = "always the most frequent label"
"""The name of the baseline."""

Classify = Callable[[Iterable[LabelledText]], Iterable[Classification]]


def score_texts(
    texts: Iterable[LabelledText],
    classify: Classify,
    *,
    labels: Sequence[str],
    multi_label: bool,
    bootstrap: int = 1000,
) -> ClassEvaluation:
    """Score the predictions of ``classify`` for ``texts``. ``labels`` are all labels of the model.

    Scores by length use the number of tokens that the model reads. ``bootstrap`` is the number of resamples;
    0: no intervals.
    """
    gold = list(texts)
    scored = PredictedTexts(
        gold=gold, answers=list(classify(gold)), labels=labels, multi_label=multi_label, classify=classify
    )
    return scored.evaluate(bootstrap=bootstrap)


class LabelsClassifier(Protocol):
    """A classifier of texts with one label or with several."""

    @property
    def multi_label(self) -> bool:
        """Whether a text may have several labels, or none."""
        ...

    def pipe(self, texts: Iterable[LabelledText]) -> Iterable[Classification]:
        """Yield the classification of each text."""
        ...


def score_labels(
    texts: Iterable[LabelledText],
    classifier: LabelsClassifier,
    *,
    labels: Sequence[str],
    bootstrap: int = 1000,
) -> ClassEvaluation:
    """Score a classifier on texts whose annotators knew only these labels, as ``score_texts`` does.

    If a text may have several labels, predictions of other labels are left out.
    """
    known, multi_label = set(labels), classifier.multi_label

    def classify(texts: Iterable[LabelledText]) -> Iterator[Classification]:
        for answer in classifier.pipe(texts):
            own = tuple(label for label in answer.labels if label in known)
            yield replace(answer, labels=own) if multi_label else answer

    return score_texts(texts, classify, labels=labels, multi_label=multi_label, bootstrap=bootstrap)


@dataclass(frozen=True, kw_only=True)
class PredictedTexts:
    """Texts with their gold labels and their classifications. ``classify`` classifies further texts.

    A model without probabilities is scored without calibration.
    """

    gold: Sequence[LabelledText]
    answers: Sequence[Classification]
    labels: Sequence[str]
    multi_label: bool
    classify: Classify
    has_probabilities: bool = True
    unused: tuple[str, ...] = ()

    def __len__(self) -> int:
        return len(self.gold)

    @property
    def metas(self) -> list[Mapping[str, str]]:
        """The named values of each text."""
        return [text.meta for text in self.gold]

    @property
    def texts(self) -> list[str]:
        """Each text."""
        return [text.text for text in self.gold]

    def uncertainties(self) -> dict[str, list[float]]:
        """Return how uncertain the model is of each text, by the name of the score."""
        if not self.has_probabilities:
            return {}
        return by_score(
            {"lowest": self._doubt(answer), **entropy_scores(answer.entropies)} for answer in self.answers
        )

    def _doubt(self, answer: Classification) -> float:
        """Return 1 minus the probability of the label, or of the least certain one of several."""
        if self.multi_label:
            return max(min(chance, 1 - chance) for chance in answer.scores.values())
        return 1 - answer.score

    def evaluate(self, *, bootstrap: int = 1000) -> ClassEvaluation:
        """Score the texts."""
        chances = [[given.scores[label] for label in self.labels] for given in self.answers]
        lengths = [given.tokens for given in self.answers]
        return evaluate_classes(
            self.gold,
            [given.labels for given in self.answers],
            chances if self.has_probabilities else None,
            self.labels,
            multi_label=self.multi_label,
            lengths=lengths if any(lengths) else None,
            bootstrap=bootstrap,
        )

    def part(self, places: Sequence[int]) -> PredictedTexts:
        """Return the texts with these numbers."""
        gold = [self.gold[at] for at in places]
        return replace(self, gold=gold, answers=[self.answers[at] for at in places])

    def sample(self, most: int) -> PredictedTexts:
        """Return at most this number of texts, spread evenly over the file."""
        return self.part(evenly(range(len(self.gold)), most))

    def joined(self, others: Sequence[PredictedTexts]) -> PredictedTexts:
        """Return these texts and those of other files."""
        parts = [self, *others]
        gold = [each for part in parts for each in part.gold]
        return replace(self, gold=gold, answers=[each for part in parts for each in part.answers])

    def changed(self, level: NoiseLevel, seed: int) -> PredictedTexts:
        """Return the texts with noise, classified again."""
        generator = np.random.default_rng(seed)
        gold = [_noisy(text, level, generator) for text in self.gold]
        return replace(self, gold=gold, answers=list(self.classify(gold)))


def _noisy(given: LabelledText, level: NoiseLevel, generator: np.random.Generator) -> LabelledText:
    """Return a text with noise. Its marks move along."""
    marks = [(mark.start, mark.end, mark.label) for mark in given.marks]
    text, moved = edited(given.text, marks, level.edits(given.text, generator))
    spans = tuple(Span(start, end, label, text[start:end]) for start, end, label in moved)
    return replace(given, text=text, marks=spans)
