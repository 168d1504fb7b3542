"""The outcome of one run of a comparison in result.json: its scores and curve, or why it failed.

The file is written last and atomically. A folder that has it is finished.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from gonie.errors import ResumeError
from gonie.metrics.significance import Tally
from gonie.system.cost import RunCost
from gonie.system.files import atomic_write

RESULT = "result.json"
COLUMNS = ("gold", "predicted", "correct")
"""The column names of a tally."""


@dataclass(frozen=True)
class Point:
    """An epoch of the learning curve."""

    epoch: int
    dev: float
    train: float | None


@dataclass(frozen=True)
class CellScores:
    """A finished run: the scores of its best epoch, as fractions, and its learning curve."""

    metric: str
    dev: float
    train: float | None  # on a sample, if requested
    test: float | None
    best_epoch: int
    seconds: float
    curve: tuple[Point, ...]
    tally: Tally  # of the predictions on test, or on dev if there is no test file
    cost: RunCost | None = None  # none in older files
    domains: Mapping[str, float] | None = None
    """The score on each named file of the data of ``tally``: F1, or accuracy for one label per example."""
    labelled: int | None = None
    """The number of labelled training examples."""

    def to_json(self) -> dict[str, Any]:
        """Return the content of result.json."""
        columns = {name: self.tally.counts[:, at].tolist() for at, name in enumerate(COLUMNS)}
        tally = {"data": self.tally.data, **columns, "unreachable": self.tally.unreachable}
        return {**asdict(self), "tally": tally, "cost": self.cost and self.cost.to_json()}

    @classmethod
    def from_json(cls, values: Mapping[str, Any]) -> CellScores:
        """Read the output of ``to_json``."""
        tally = values["tally"]
        counts = np.array([tally[name] for name in COLUMNS], dtype=np.int64).T.reshape(-1, 3)
        cost = values.get("cost")
        rest = {
            "curve": tuple(Point(**point) for point in values["curve"]),
            "tally": Tally(tally["data"], counts, tally.get("unreachable", 0)),  # none in older files
            "cost": cost and RunCost.from_json(cost),
        }
        return cls(**{**values, **rest})


@dataclass(frozen=True)
class Failure:
    """A failed run and its error message."""

    error: str

    def to_json(self) -> dict[str, Any]:
        """Return the content of result.json."""
        return asdict(self)


Outcome = CellScores | Failure


def write_outcome(folder: Path, outcome: Outcome) -> None:
    """Write the outcome of the run in ``folder``, which marks it as finished."""
    atomic_write(folder / RESULT, json.dumps(outcome.to_json(), ensure_ascii=False))


def read_outcome(folder: Path) -> Outcome | None:
    """Return the outcome of the run in ``folder``, or None if it is not finished."""
    path = folder / RESULT
    if not path.exists():
        return None
    try:
        values = json.loads(path.read_bytes())
        return Failure(values["error"]) if "error" in values else CellScores.from_json(values)
    except (ValueError, TypeError, LookupError) as error:
        raise ResumeError(
            f"{path}: invalid result file ({error}). Delete it to train that run again."
        ) from error
