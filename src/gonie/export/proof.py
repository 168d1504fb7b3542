"""The proof that an export equals its model: both score the same batches, and every score must agree."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from gonie.errors import GonieError
from gonie.models.scorer import TorchScorer
from gonie.models.tagger import Tagger
from gonie.runtime.scorer import Batch, Scorer

TOLERANCE = 1e-4  # of a score, or of its size where that is above 1


@dataclass(frozen=True, slots=True)
class MaxDifference:
    """The largest difference between two scorers of one model, and over how many tokens it was taken."""

    value: float
    tokens: int


def prove(model: Tagger, scorer: Scorer, batches: Iterable[Batch]) -> MaxDifference:
    """Compare ``scorer`` with ``model`` at every real token of ``batches``; refuse any difference."""
    reference = TorchScorer(model)
    worst, tokens = 0.0, 0
    for batch in batches:
        mask = batch["mask"]
        wanted, got = reference.scores(batch)[mask], scorer.scores(batch)[mask]  # (tokens, K)
        difference = np.abs(wanted - got) / np.maximum(1.0, np.abs(wanted))
        worst, tokens = max(worst, float(difference.max(initial=0.0))), tokens + int(mask.sum())
        if not difference.max(initial=0.0) <= TOLERANCE:  # so written that nan is caught too
            raise GonieError(
                f"expected the exported model to give the trained model's scores within {TOLERANCE}, got a "
                f"difference of {difference.max():.2g}. The bundle was not written; please report this model."
            )
    if not tokens:
        raise GonieError("expected at least one batch to compare the export on, got none")
    return MaxDifference(worst, tokens)
