"""Score a pair model on pairs with gold answers."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

import numpy as np

from gonie.errors import InputError
from gonie.metrics.classes import ClassEvaluation, evaluate_classes
from gonie.tasks.evaluation import evenly
from gonie.tasks.pairs.answer import PairAnswer
from gonie.tasks.pairs.values import ValueEvaluation, evaluate_values
from gonie.text.labelled_text import LabelledPair
from gonie.text.noise import edited
from gonie.text.noise_levels import NoiseLevel

PairEvaluation: TypeAlias = ClassEvaluation | ValueEvaluation


@dataclass(frozen=True, kw_only=True)
class PredictedPairs:
    """Pairs with their gold answers and the answers of a model. ``answer`` answers further pairs.

    With ``values``, answers are numbers. ``labels`` are those of the model.
    """

    gold: Sequence[LabelledPair]
    answers: Sequence[PairAnswer]
    labels: Sequence[str]
    values: bool
    answer: Callable[[Iterable[LabelledPair]], Iterable[PairAnswer]]
    unused: tuple[str, ...] = ()

    def __len__(self) -> int:
        return len(self.gold)

    @property
    def metas(self) -> list[Mapping[str, str]]:
        """The named values of each pair."""
        return [pair.meta for pair in self.gold]

    @property
    def texts(self) -> list[str]:
        """The two texts of each pair."""
        return [pair.text for pair in self.gold]

    def uncertainties(self) -> dict[str, list[float]]:
        """Return how uncertain the model is of each label. Values have no probabilities."""
        return {} if self.values else {"lowest": [1 - (answer.score or 0.0) for answer in self.answers]}

    def evaluate(self, *, bootstrap: int = 1000) -> PairEvaluation:
        """Score the pairs."""
        return score_pairs(
            self.gold, self.answers, labels=self.labels, values=self.values, bootstrap=bootstrap
        )

    def part(self, places: Sequence[int]) -> PredictedPairs:
        """Return the pairs with these numbers."""
        gold = [self.gold[at] for at in places]
        return replace(self, gold=gold, answers=[self.answers[at] for at in places])

    def sample(self, most: int) -> PredictedPairs:
        """Return at most this number of pairs, spread evenly over the file."""
        return self.part(evenly(range(len(self.gold)), most))

    def joined(self, others: Sequence[PredictedPairs]) -> PredictedPairs:
        """Return these pairs and those of other files."""
        parts = [self, *others]
        gold = [each for part in parts for each in part.gold]
        return replace(self, gold=gold, answers=[each for part in parts for each in part.answers])

    def changed(self, level: NoiseLevel, seed: int) -> PredictedPairs:
        """Return the pairs with noise in both texts, answered again."""
        generator = np.random.default_rng(seed)

        def noisy(text: str) -> str:
            return edited(text, (), level.edits(text, generator)).text

        gold = [replace(pair, first=noisy(pair.first), second=noisy(pair.second)) for pair in self.gold]
        return replace(self, gold=gold, answers=list(self.answer(gold)))


def score_pairs(
    pairs: Sequence[LabelledPair],
    answers: Sequence[PairAnswer],
    *,
    labels: Sequence[str],
    values: bool,
    bootstrap: int = 1000,
) -> PairEvaluation:
    """Compare predictions with gold labels, or with ``values`` numbers. ``labels`` are those of the model."""
    check_answers(pairs, values=values)
    if values:
        found = [answer.value for answer in answers if answer.value is not None]
        return evaluate_values(pairs, found, bootstrap=bootstrap)
    return evaluate_classes(
        pairs,
        [answer.labels for answer in answers],
        [[answer.scores[label] for label in labels] for answer in answers],
        labels,
        lengths=[answer.tokens for answer in answers],
        bootstrap=bootstrap,
    )


def check_answers(pairs: Sequence[LabelledPair], *, values: bool, advice: str = "") -> None:
    """Raise InputError for a file of labels where the model gives values, or the reverse.

    ``advice`` says how to name the column of the gold answer.
    """
    for pair in pairs:
        if (pair.value is None) == values:
            own, other = ("values", "labels") if values else ("labels", "values")
            raise InputError(
                f"the pairs have {other}, but the model gives {own}",
                path=pair.path or None,
                fix=f"Name the column of the {own}: {advice}" if advice else "",
            )
