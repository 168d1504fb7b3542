"""A bundle that multiplies in bytes, accepted only if hardly an answer of its changes."""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

from gonie.errors import GonieError
from gonie.export.byte_graph import ByteGraph
from gonie.export.exportable import Exportable, Judged
from gonie.export.ranges import measure_ranges
from gonie.runtime.bundle import Contents

UNCHANGED = 0.998  # of the answers, at least
FALL = 0.003  # of the score, at most
CALIBRATED = 256  # examples on which the sizes of numbers are measured


class Int8Proof(NamedTuple):
    """How a bundle in bytes compares with the one in floats on held-out examples."""

    answers: int
    changed: int
    metric: str
    before: float
    after: float

    @classmethod
    def of(cls, before: Judged, after: Judged) -> Int8Proof:
        """From what both say of the same examples."""
        pairs = zip(before.answers, after.answers, strict=True)
        changed = sum(one != other for one, other in pairs)
        return cls(len(before.answers), changed, before.metric, before.score, after.score)

    @property
    def unchanged(self) -> float:
        """The share of the answers that are the same."""
        return 1.0 - self.changed / max(1, self.answers)

    @property
    def holds(self) -> bool:
        """Whether the bundle may be used in the other's place."""
        return self.unchanged >= UNCHANGED and self.before - self.after <= FALL

    def __str__(self) -> str:
        return (
            f"{self.changed:,} of {self.answers:,} answers change ({self.unchanged:.2%} stay); "
            f"{self.metric} {self.before:.2%} -> {self.after:.2%}"
        )


def int8_bundle(exportable: Exportable, floats: Contents) -> tuple[Contents, Int8Proof]:
    """The model's bundle with bytes for weights, and its proof; refused if that does not hold.

    ``floats`` is the bundle that it is compared with. Its recurrent layers multiply bytes by scales that are
    measured here, so that company changes nothing.
    """
    ranges = measure_ranges(exportable.model, exportable.trained, exportable.batches(CALIBRATED))
    graphs = exportable.write(ByteGraph(longest=exportable.longest, ranges=ranges))
    made = replace(floats, **graphs._asdict())
    proof = Int8Proof.of(exportable.judge(floats), exportable.judge(made))
    if not proof.holds:
        raise GonieError(
            f"expected at least {UNCHANGED:.1%} of the answers unchanged in int8, and a score that "
            f"falls by at most {FALL:.1%}, got: {proof}. Nothing was written; export it without --int8."
        )
    return made, proof
