"""Quantisation of a bundle to int8, accepted only if almost all predictions stay the same."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import NamedTuple

from gonie.errors import GonieError
from gonie.export.exportable import Exportable, ScoredAnswers
from gonie.export.int8_graph import Int8Graph
from gonie.export.ranges import Ranges, measure_ranges
from gonie.runtime.bundle import Contents

UNCHANGED = 0.998  # minimum share of unchanged predictions
FALL = 0.003  # maximum fall of the score
CALIBRATED = 256  # examples on which the ranges of activations are measured


class Int8Proof(NamedTuple):
    """The comparison of an int8 bundle with the float bundle on held-out examples."""

    answers: int
    changed: int
    metric: str
    before: float
    after: float

    @classmethod
    def of(cls, before: ScoredAnswers, after: ScoredAnswers) -> Int8Proof:
        """Compare the predictions of both for the same examples."""
        changed = before.changed(after)
        return cls(len(before.answers), changed, before.metric, before.score, after.score)

    @property
    def unchanged(self) -> float:
        """The share of predictions that are the same."""
        return 1.0 - self.changed / max(1, self.answers)

    @property
    def holds(self) -> bool:
        """Whether the int8 bundle may replace the float bundle."""
        return self.unchanged >= UNCHANGED and self.before - self.after <= FALL

    def __str__(self) -> str:
        return (
            f"{self.changed:,} of {self.answers:,} predictions changed ({self.unchanged:.2%} unchanged); "
            f"{self.metric} {self.before:.2%} -> {self.after:.2%}"
        )


def int8_bundle(
    exportable: Exportable, floats: Contents, note: Callable[[str], None]
) -> tuple[Contents, Int8Proof]:
    """Return the bundle with int8 weights and its proof, or raise an error if too much changes.

    ``floats`` is the float bundle. The recurrent layers use int8 products, whose scales are measured here and
    then fixed, so that the scores of a sentence do not depend on its batch. If these products change too
    much, only the weights are int8.
    """
    before = exportable.score_answers(floats)

    def made(ranges: Ranges) -> tuple[Contents, Int8Proof]:
        graphs = exportable.write(Int8Graph(longest=exportable.longest, ranges=ranges))
        contents = replace(floats, **graphs._asdict())
        return contents, Int8Proof.of(before, exportable.score_answers(contents))

    ranges = measure_ranges(exportable.model, exportable.trained, exportable.batches(CALIBRATED))
    bundle, proof = made(ranges)
    if not proof.holds and ranges:
        note(f"int8 products change too much, so only the weights are int8: {proof}")
        bundle, proof = made({})
    if not proof.holds:
        raise GonieError(
            f"int8 changes the model too much: {proof}. At least {UNCHANGED:.1%} of the predictions must be "
            f"unchanged, and the score may fall by at most {FALL:.1%}. Nothing was written. Export without "
            "--int8."
        )
    return bundle, proof
