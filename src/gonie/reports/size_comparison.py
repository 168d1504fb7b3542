"""A comparison over training sizes as plain values, for the page, the terminal and JSON."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from functools import cached_property
from typing import Any, NamedTuple

from gonie.metrics.score_curves import Region, ScoreCurve, ScorePoint, best_regions


class ModelCost(NamedTuple):
    """How fast a model is, and how large. None is unknown.

    ``tokens_per_second`` is that of many texts, and ``milliseconds`` the time of one text alone.
    """

    tokens_per_second: float | None
    milliseconds: float | None
    megabytes: float | None


@dataclass(frozen=True)
class SizeLine:
    """One model over training sizes: its scores as fractions, and the cost of its largest size.

    A ``constant`` line is that of a model that was trained before, and has the same score at all sizes. It is
    a reference: nothing is known of its training but, at most, the number of ``labelled`` examples.
    """

    curve: ScoreCurve
    cost: ModelCost | None = None
    constant: bool = False
    labelled: int | None = None

    @property
    def name(self) -> str:
        """The name of the model."""
        return self.curve.name

    def point(self, size: float) -> ScorePoint | None:
        """Return the score at a measured size."""
        return next((point for point in self.curve.points if point.size == size), None)


@dataclass(frozen=True)
class SizeComparison:
    """All lines, in the order of the command but references last, and what their scores are of.

    ``sizes`` are the numbers of labelled training examples, called ``noun``. ``seeds`` is the number of runs
    of a score.
    """

    metric: str
    tested_on: str
    noun: str
    sizes: tuple[float, ...]
    seeds: int
    lines: tuple[SizeLine, ...]

    @property
    def compared(self) -> list[SizeLine]:
        """The models whose scores depend on the size. The others are references."""
        return [line for line in self.lines if not line.constant]

    @property
    def curves(self) -> list[ScoreCurve]:
        """The scores of the compared models."""
        return [line.curve for line in self.compared]

    @cached_property
    def regions(self) -> list[Region]:
        """Which of the compared models is best from which size on."""
        return best_regions(self.curves)

    def to_json(self) -> dict[str, Any]:
        """Return everything as plain values, with scores as fractions."""
        return {
            "metric": self.metric,
            "tested_on": self.tested_on,
            "noun": self.noun,
            "sizes": list(self.sizes),
            "seeds": self.seeds,
            "lines": [
                {
                    "name": line.name,
                    "constant": line.constant,
                    "labelled": line.labelled,
                    "points": [point._asdict() for point in line.curve.points],
                    "cost": line.cost and line.cost._asdict(),
                }
                for line in self.lines
            ],
            "regions": [asdict(region) for region in self.regions],
        }


def read_cost(values: Mapping[str, float | None]) -> ModelCost:
    """Read the output of ``ModelCost._asdict``."""
    return ModelCost(**values)
