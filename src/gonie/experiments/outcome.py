"""How one run of a comparison ended, as result.json keeps it: its scores and its curve, or why it failed.

The file is written last and whole: a folder that has it is done.
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
from gonie.system.files import atomic_write

RESULT = "result.json"
COLUMNS = ("gold", "predicted", "correct")
"""Names of the columns of a tally."""


@dataclass(frozen=True)
class Point:
    """An epoch of the learning curve."""

    epoch: int
    dev: float
    train: float | None


@dataclass(frozen=True)
class CellScores:
    """A run that came to its end: its best epoch's scores, as fractions, and how it got there."""

    metric: str
    dev: float
    train: float | None  # on a sample, and where one was asked for
    test: float | None
    best_epoch: int
    seconds: float
    curve: tuple[Point, ...]
    tally: Tally  # of the answers on test, or on dev where there is no test file

    def to_json(self) -> dict[str, Any]:
        """As result.json holds it."""
        columns = {name: self.tally.counts[:, at].tolist() for at, name in enumerate(COLUMNS)}
        return {**asdict(self), "tally": {"data": self.tally.data, **columns}}

    @classmethod
    def from_json(cls, values: Mapping[str, Any]) -> CellScores:
        """Read what ``to_json`` gave."""
        tally = values["tally"]
        counts = np.array([tally[name] for name in COLUMNS], dtype=np.int64).T.reshape(-1, 3)
        rest = {
            "curve": tuple(Point(**point) for point in values["curve"]),
            "tally": Tally(tally["data"], counts),
        }
        return cls(**{**values, **rest})


@dataclass(frozen=True)
class Failure:
    """A run that could not come to its end, and the sentence that says why."""

    error: str

    def to_json(self) -> dict[str, Any]:
        """As result.json holds it."""
        return asdict(self)


Outcome = CellScores | Failure


def write_outcome(folder: Path, outcome: Outcome) -> None:
    """Note how the run in ``folder`` ended: from here on it is done."""
    atomic_write(folder / RESULT, json.dumps(outcome.to_json(), ensure_ascii=False))


def read_outcome(folder: Path) -> Outcome | None:
    """How the run in ``folder`` ended; None if it has not."""
    path = folder / RESULT
    if not path.exists():
        return None
    try:
        values = json.loads(path.read_bytes())
        return Failure(values["error"]) if "error" in values else CellScores.from_json(values)
    except (ValueError, TypeError, LookupError) as error:
        raise ResumeError(
            f"{path}: expected the result of a run, got a damaged file ({error}). Delete it to train that "
            "run again."
        ) from error
