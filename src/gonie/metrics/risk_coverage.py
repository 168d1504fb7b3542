"""Risk and coverage: how many errors are left if a model keeps only its most confident decisions.

The coverage is the share of decisions that are kept, the risk the share of these that are wrong. If a model
knows when it is right, the risk falls with the coverage (El-Yaniv & Wiener 2010). The area under the curve,
AURC, is the mean risk over all coverages 1/M, 2/M … 1 (Geifman & El-Yaniv 2017). The best possible order has
all right decisions first, and ``excess_area`` is the area above that of this order (Geifman et al. 2019).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from gonie.metrics.bootstrap import Floats

COVERAGES = (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0)
"""The coverages in the JSON."""


@dataclass(frozen=True, slots=True)
class CoveragePoint:
    """The risk of the decisions with a probability of at least ``threshold``, and their share."""

    coverage: float
    risk: float
    threshold: float

    def to_json(self) -> dict[str, float]:
        """Return the values as fractions."""
        return {"coverage": self.coverage, "risk": self.risk, "threshold": self.threshold}


@dataclass(frozen=True)
class RiskCoverage:
    """The curve, from the most confident decision to all of them.

    ``risks`` (M,) has the risk of the 1, 2 … M most confident decisions, and ``confidences`` (M,) their
    probabilities. Decisions with the same probability share their errors evenly, so their order does not
    matter.
    """

    risks: Floats
    confidences: Floats

    @property
    def area(self) -> float:
        """The area under the curve: the mean risk over all coverages."""
        return float(self.risks.mean())

    @property
    def excess_area(self) -> float:
        """The area above that of the best possible order of the same decisions."""
        total = len(self.risks)
        errors = round(float(self.risks[-1]) * total)
        kept = np.arange(1, total + 1)
        best = np.maximum(kept - (total - errors), 0) / kept  # all right decisions come first
        return self.area - float(best.mean())

    def at(self, coverage: float) -> CoveragePoint:
        """Return the point of the smallest number of decisions that is at least this share, in 0 to 1.

        Decisions with the same probability are kept together, as by a threshold.
        """
        total = len(self.risks)
        least = min(max(int(np.ceil(coverage * total - 1e-9)), 1), total)
        kept = int(np.searchsorted(-self.confidences, -self.confidences[least - 1], side="right"))
        return CoveragePoint(kept / total, float(self.risks[kept - 1]), float(self.confidences[kept - 1]))

    def points(self, coverages: Sequence[float] = COVERAGES) -> list[CoveragePoint]:
        """Return the points of several coverages, without repeats."""
        return list(dict.fromkeys(map(self.at, coverages)))

    def to_json(self) -> dict[str, object]:
        """Return the areas, and the points of ten coverages."""
        return {
            "aurc": self.area,
            "excess_aurc": self.excess_area,
            "points": [point.to_json() for point in self.points()],
        }


def risk_coverage(confidences: npt.ArrayLike, right: npt.ArrayLike) -> RiskCoverage:
    """Return the curve of decisions (M,) with these probabilities, right or wrong. M ≥ 1."""
    given, correct = np.asarray(confidences, dtype=np.float64), np.asarray(right, dtype=bool)
    order = np.argsort(-given, kind="stable")
    ordered, wrong = given[order], ~correct[order]
    starts = np.flatnonzero(
        np.diff(ordered, prepend=np.inf)
    )  # where each group of equal probabilities begins
    sizes = np.diff(starts, append=len(ordered))
    shares = np.add.reduceat(wrong.astype(np.float64), starts) / sizes
    errors = np.cumsum(np.repeat(shares, sizes))  # (M,)
    return RiskCoverage(errors / np.arange(1, len(ordered) + 1), ordered)
