"""How well a score of uncertainty separates texts like the training data from others.

The area under the ROC curve is the probability that a text from outside has a higher score than one from
inside (Hendrycks & Gimpel 2017). 0.5 is chance, 1 separates them completely.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from gonie.errors import InputError
from gonie.metrics.auc import Ranking
from gonie.metrics.intervals import Interval


@dataclass(frozen=True, slots=True)
class Separation:
    """The AUROC of scores of ``inside`` and ``outside`` texts, and its 95% interval if it was computed."""

    auroc: float
    interval: Interval | None
    inside: int
    outside: int

    def to_json(self) -> dict[str, object]:
        """Return the area and its interval as fractions, and the number of texts on each side."""
        interval = None if self.interval is None else list(self.interval)
        return {"auroc": self.auroc, "interval": interval, "inside": self.inside, "outside": self.outside}


def measure_separation(
    inside: npt.ArrayLike, outside: npt.ArrayLike, *, bootstrap: int = 1000, seed: int = 0
) -> Separation:
    """Measure how much higher the scores of ``outside`` are. ``bootstrap`` is the number of resamples."""
    sides = [np.asarray(side, dtype=np.float64).ravel() for side in (inside, outside)]
    if not all(map(len, sides)):
        raise InputError(
            f"expected scores on both sides, got {len(sides[0])} and {len(sides[1])}", fix="Check the files"
        )
    ranking = Ranking(scores=np.concatenate(sides), positive=np.repeat([False, True], list(map(len, sides))))
    area = ranking.area
    assert area is not None  # both sides have scores
    interval = ranking.interval(resamples=bootstrap, seed=seed) if bootstrap else None
    return Separation(area, interval, *map(len, sides))
