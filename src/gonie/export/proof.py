"""The proof that an export equals its model: both run on the same batches, and every number must agree."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass

import numpy as np

from gonie.errors import GonieError
from gonie.export.exportable import Array, Arrays
from gonie.runtime.scorer import Batch

TOLERANCE = 1e-4  # of a score: absolute below 1, relative above
JUMPS = 1e-2  # mean difference of the token weights of max pooling


@dataclass(frozen=True, slots=True)
class MaxDifference:
    """The largest difference between two scorers of one model, and the number of tokens compared."""

    value: float
    tokens: int


def prove(
    wanted: Callable[[Batch], Arrays],
    got: Callable[[Batch], Arrays],
    batches: Iterable[Batch],
    *,
    discontinuous: Collection[str] = (),
) -> MaxDifference:
    """Compare the outputs of the trained and the exported model. Raise an error if they differ.

    In max pooling, a weight jumps from one token to another where their values differ only by rounding, and
    two libraries round differently. So the arrays named in ``discontinuous`` must agree only on average.
    """
    worst, tokens = 0.0, 0
    for batch in batches:
        difference = _largest(wanted(batch), got(batch), discontinuous)
        worst, tokens = max(worst, difference), tokens + int(batch["mask"].sum())
        if not difference <= TOLERANCE:  # not `>`, so that NaN is caught too
            raise GonieError(
                f"the exported model's scores differ from the trained model's by {difference:.2g}, more than "
                f"{TOLERANCE}. The bundle was not written. Please report this model."
            )
    if not tokens:
        raise GonieError("no examples to compare the exported model on")
    return MaxDifference(worst, tokens)


def _largest(wanted: Arrays, got: Arrays, discontinuous: Collection[str]) -> float:
    """Return the largest difference of all arrays, or NaN if there is one."""
    found = [
        (_jumping_difference if name in discontinuous else _difference)(array, got[name])
        for name, array in wanted.items()
    ]
    return float(np.max(found))


def _difference(wanted: Array, got: Array) -> float:
    return float((np.abs(wanted - got) / np.maximum(1.0, np.abs(wanted))).max(initial=0.0))


def _jumping_difference(wanted: Array, got: Array) -> float:
    mean = float(np.abs(wanted - got).mean()) if wanted.size else 0.0
    return 0.0 if mean <= JUMPS else mean
