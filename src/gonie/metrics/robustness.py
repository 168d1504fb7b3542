"""Scores under noise: the mean of several random draws, and how far they are apart."""

from __future__ import annotations

from dataclasses import dataclass
from statistics import fmean
from typing import Any


@dataclass(frozen=True, slots=True)
class NoiseScore:
    """The scores of texts with noise of one kind and rate, one for each draw.

    ``clean`` is the score without this noise.
    """

    kind: str
    rate: float
    measure: str
    scores: tuple[float, ...]
    clean: float

    @property
    def score(self) -> float:
        """The mean of the draws."""
        return fmean(self.scores)

    @property
    def change(self) -> float:
        """How much the score is higher than without noise."""
        return self.score - self.clean

    @property
    def spread(self) -> tuple[float, float]:
        """The lowest and the highest draw."""
        return min(self.scores), max(self.scores)

    def to_json(self) -> dict[str, Any]:
        """Return the mean under the name of the score, the change, and all draws."""
        return {
            "kind": self.kind,
            "rate": self.rate,
            self.measure: self.score,
            "change": self.change,
            "draws": list(self.scores),
        }


@dataclass(frozen=True, slots=True)
class NoiseCurve:
    """The scores of all levels of noise on a sample of the examples.

    ``skipped`` are the kinds of noise that change nothing in these texts.
    """

    scores: tuple[NoiseScore, ...]
    examples: int
    total: int
    skipped: tuple[str, ...] = ()

    @property
    def measure(self) -> str:
        """The name of the score."""
        return self.scores[0].measure

    def of_kind(self, kind: str) -> list[NoiseScore]:
        """Return the scores of one kind of noise, by rate."""
        return [each for each in self.scores if each.kind == kind]

    def to_json(self) -> list[dict[str, Any]]:
        """Return one record for each level of noise."""
        return [score.to_json() for score in self.scores]
