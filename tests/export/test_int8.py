"""An export in bytes is accepted for what it does, and refused with what it did."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from gonie.errors import GonieError
from gonie.export.exporter import Judged
from gonie.export.graph import Graph
from gonie.export.int8 import Int8Proof, int8_bundle
from gonie.export.proof import MaxDifference
from gonie.export.ranges import Range, Ranges
from gonie.nn.bilm import ProjectedLSTM


class Spoken:
    """An exporter whose bundles are what they say of the examples."""

    noun = "tags"
    examples: Sequence[object] = ()

    def __init__(self, before: Judged, after: Judged) -> None:
        self.bundle = before
        self._after = after

    def ranges(self, samples: int) -> Ranges:
        return {ProjectedLSTM(width=1, hidden=1): Range(1.0, 1.0)}

    longest = 0

    def with_graph(self, graph: Graph) -> Any:
        self.graph = graph
        return self._after

    def prove(self, bundle: Any, samples: int) -> MaxDifference:
        raise AssertionError("floats are proved otherwise")

    def judge(self, bundle: Judged) -> Judged:
        return bundle


def said(changed: int, score: float) -> Judged:
    return Judged(["X"] * changed + ["O"] * (1000 - changed), "f1", score)


@pytest.mark.parametrize(("changed", "score"), [(0, 0.9), (2, 0.9), (0, 0.8971), (2, 0.95)])
def test_hardly_any_change_is_accepted(changed: int, score: float) -> None:
    made, proof = int8_bundle(Spoken(said(0, 0.9), said(changed, score)))
    assert made == said(changed, score)
    assert (proof.answers, proof.changed) == (1000, changed)


@pytest.mark.parametrize(("changed", "score"), [(3, 0.9), (3, 0.95), (0, 0.8969)])
def test_more_is_refused_with_the_figures(changed: int, score: float) -> None:
    with pytest.raises(
        GonieError, match=rf"expected at least 99\.8% .*{changed} of 1,000 .*Nothing was written"
    ):
        int8_bundle(Spoken(said(0, 0.9), said(changed, score)))


def test_the_graph_knows_what_was_measured() -> None:
    exporter = Spoken(said(0, 0.9), said(0, 0.9))
    int8_bundle(exporter)
    assert list(exporter.graph.ranges.values()) == [Range(1.0, 1.0)]


def test_both_must_have_answered_all() -> None:
    with pytest.raises(ValueError, match="zip"):
        Int8Proof.of(said(0, 0.9), Judged(["O"], "f1", 0.9))


def test_the_line_a_user_reads() -> None:
    proof = Int8Proof.of(said(0, 0.912), said(1, 0.9111))
    assert str(proof) == "1 of 1,000 answers change (99.90% stay); f1 91.20% -> 91.11%"
