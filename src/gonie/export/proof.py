"""The proof that an export equals its model: both are given the same batches, and every number must agree."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass

import numpy as np

from gonie.errors import GonieError
from gonie.export.exportable import Array, Arrays
from gonie.runtime.scorer import Batch

TOLERANCE = 1e-4  # of a score, or of its size where that is above 1
JUMPS = 1e-2  # of the shares under a maximum, in the mean


@dataclass(frozen=True, slots=True)
class MaxDifference:
    """The largest difference between two scorers of one model, and over how many tokens it was taken."""

    value: float
    tokens: int


def prove(
    wanted: Callable[[Batch], Arrays],
    got: Callable[[Batch], Arrays],
    batches: Iterable[Batch],
    *,
    jumping: Collection[str] = (),
) -> MaxDifference:
    """Compare what the trained model and the exported one give for ``batches``; refuse any difference.

    Under a maximum a share jumps from one token to another when they are equal to the last digit, which is
    not the same digit in two libraries: the arrays named in ``jumping`` have to agree in the mean.
    """
    worst, tokens = 0.0, 0
    for batch in batches:
        difference = _largest(wanted(batch), got(batch), jumping)
        worst, tokens = max(worst, difference), tokens + int(batch["mask"].sum())
        if not difference <= TOLERANCE:  # so written that nan is caught too
            raise GonieError(
                f"expected the exported model to give the trained model's scores within {TOLERANCE}, got a "
                f"difference of {difference:.2g}. The bundle was not written; please report this model."
            )
    if not tokens:
        raise GonieError("expected at least one batch to compare the export on, got none")
    return MaxDifference(worst, tokens)


def _largest(wanted: Arrays, got: Arrays, jumping: Collection[str]) -> float:
    """The largest difference of all arrays; nan where there is any."""
    found = [
        (_jumping_difference if name in jumping else _difference)(array, got[name])
        for name, array in wanted.items()
    ]
    return float(np.max(found))


def _difference(wanted: Array, got: Array) -> float:
    return float((np.abs(wanted - got) / np.maximum(1.0, np.abs(wanted))).max(initial=0.0))


def _jumping_difference(wanted: Array, got: Array) -> float:
    mean = float(np.abs(wanted - got).mean()) if wanted.size else 0.0
    return 0.0 if mean <= JUMPS else mean
