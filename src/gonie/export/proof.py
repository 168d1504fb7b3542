"""The proof that an export equals its model: both score the same batches, and every score must agree."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gonie.errors import GonieError
from gonie.nn.poolings import Max
from gonie.runtime.scorer import Batch, Scorer, TextScorer
from gonie.tasks.classification.torch.network import ClassifyingNetwork
from gonie.tasks.tagging.torch.network import TaggingNetwork
from gonie.tasks.torch.scorer import TorchScorer, TorchTextScorer

TOLERANCE = 1e-4  # of a score, or of its size where that is above 1
JUMPS = 1e-2  # of the shares under a maximum, in the mean

Array = NDArray[Any]


@dataclass(frozen=True, slots=True)
class MaxDifference:
    """The largest difference between two scorers of one model, and over how many tokens it was taken."""

    value: float
    tokens: int


def prove(model: TaggingNetwork, scorer: Scorer, batches: Iterable[Batch]) -> MaxDifference:
    """Compare ``scorer`` with ``model`` at every real token of ``batches``; refuse any difference."""
    reference = TorchScorer(model)
    return _proved(
        (
            _difference(reference.scores(batch)[batch["mask"]], scorer.scores(batch)[batch["mask"]]),
            int(batch["mask"].sum()),
        )
        for batch in batches
    )


def prove_texts(model: ClassifyingNetwork, scorer: TextScorer, batches: Iterable[Batch]) -> MaxDifference:
    """Compare the scores, and the shares of every real token and sentence, of ``batches`` of texts.

    Under a maximum a share jumps from one token to another when they are equal to the last digit, which is
    not the same digit in two libraries: there the shares have to agree in the mean.
    """
    reference = TorchTextScorer(model)
    shares = _jumping_difference if any(isinstance(part, Max) for part in model.modules()) else _difference

    def differences() -> Iterable[tuple[float, int]]:
        for batch in batches:
            mask, places = batch["mask"], batch["places_mask"]
            wanted, got = reference.score_texts(batch), scorer.score_texts(batch)
            found = (
                _difference(wanted.scores, got.scores),
                shares(wanted.words[mask], got.words[mask]),
                shares(wanted.sentences[places], got.sentences[places]),
            )
            yield float(np.max(found)), int(mask.sum())

    return _proved(differences())


def _proved(differences: Iterable[tuple[float, int]]) -> MaxDifference:
    """The largest of the differences, each with the tokens it was taken over; too large a one is refused."""
    worst, tokens = 0.0, 0
    for difference, size in differences:
        worst, tokens = max(worst, difference), tokens + size
        if not difference <= TOLERANCE:  # so written that nan is caught too
            raise GonieError(
                f"expected the exported model to give the trained model's scores within {TOLERANCE}, got a "
                f"difference of {difference:.2g}. The bundle was not written; please report this model."
            )
    if not tokens:
        raise GonieError("expected at least one batch to compare the export on, got none")
    return MaxDifference(worst, tokens)


def _difference(wanted: Array, got: Array) -> float:
    return float((np.abs(wanted - got) / np.maximum(1.0, np.abs(wanted))).max(initial=0.0))


def _jumping_difference(wanted: Array, got: Array) -> float:
    mean = float(np.abs(wanted - got).mean()) if wanted.size else 0.0
    return 0.0 if mean <= JUMPS else mean
