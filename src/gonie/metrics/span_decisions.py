"""Predicted spans as decisions: the probability of each, and whether gold has exactly this span."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from gonie.metrics.aligned import Aligned
from gonie.metrics.bootstrap import Floats
from gonie.metrics.calibration import Calibration, decision_calibration
from gonie.metrics.mistakes import span_chances
from gonie.metrics.risk_coverage import RiskCoverage, risk_coverage
from gonie.text.schemes import TokenSpan


class SpanDecisions(NamedTuple):
    """The probability of each predicted span (M,), and whether it is right (M,).

    ``places`` has the number of the sentence and the span of each, to compare the decisions of several
    models.
    """

    confidences: Floats
    right: npt.NDArray[np.bool_]
    places: tuple[tuple[int, TokenSpan], ...] = ()

    @classmethod
    def of(
        cls,
        aligned: Iterable[Aligned],
        guess: Iterable[Sequence[TokenSpan]],
        confidences: Iterable[Sequence[float]],
        chances: Iterable[Mapping[TokenSpan, float]],
    ) -> SpanDecisions:
        """Collect the decisions of all sentences. The arguments are those of ``evaluation``."""
        given: list[float] = []
        right: list[bool] = []
        places: list[tuple[int, TokenSpan]] = []
        sides = zip(aligned, guess, confidences, chances, strict=True)
        for number, (each, spans, sure, likely) in enumerate(sides):
            if not spans:
                continue
            predicted, gold = sorted(set(each.predicted)), set(each.gold)
            known = each.values_of_spans(likely, spans)
            given += span_chances(predicted, each.values_of_words(sure) or (), known or {})
            right += [span in gold for span in predicted]
            places += [(number, span) for span in predicted]
        return cls(np.array(given, dtype=np.float64), np.array(right, dtype=bool), tuple(places))

    def calibration(self) -> Calibration | None:
        """Return the calibration of the probabilities, or None if nothing was predicted."""
        return decision_calibration(self.confidences, self.right) if len(self.right) else None

    def risk_coverage(self) -> RiskCoverage | None:
        """Return the curve of risk and coverage, or None if nothing was predicted."""
        return risk_coverage(self.confidences, self.right) if len(self.right) else None
