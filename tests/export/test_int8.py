"""Tests when an int8 export is accepted, and when it is refused with its figures."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import pytest
import torch

from gonie.errors import GonieError
from gonie.export.exportable import ScoredAnswers
from gonie.export.graph import Graph
from gonie.export.int8 import Int8Proof, int8_bundle
from gonie.export.ranges import Range
from gonie.nn import LSTM
from gonie.runtime.bundle import Graphs


@dataclass(frozen=True)
class Spoken:
    """A bundle that is identified by its graph."""

    graph: bytes = b"floats"
    forms: bytes | None = None


class Speaker:
    """An exportable model whose float and int8 bundles give fixed answers."""

    longest = 0

    def __init__(
        self, floats: ScoredAnswers, bytes: ScoredAnswers, weights: ScoredAnswers | None = None
    ) -> None:
        self.model = LSTM(width=1, hidden=1)
        self._said = {b"floats": floats, b"bytes": bytes, b"weights": weights or bytes}

    def batches(self, samples: int) -> Iterator[Any]:
        yield torch.tensor([[[-3.0]]])  # (1, 1, 1)

    def trained(self, batch: Any) -> None:
        with torch.no_grad():
            self.model(batch, torch.ones(1, 1, dtype=torch.bool))

    def write(self, graph: Graph) -> Graphs:
        self.graph = graph
        return Graphs(b"bytes" if graph.ranges else b"weights")

    def score_answers(self, bundle: Spoken) -> ScoredAnswers:
        return self._said[bundle.graph]


def exported(speaker: Any, notes: list[str] | None = None) -> tuple[Any, Int8Proof]:
    floats: Any = Spoken()
    return int8_bundle(speaker, floats, notes.append if notes is not None else print)


def said(changed: int, score: float) -> ScoredAnswers:
    return ScoredAnswers(["X"] * changed + ["O"] * (1000 - changed), "f1", score)


@pytest.mark.parametrize(("changed", "score"), [(0, 0.9), (2, 0.9), (0, 0.8971), (2, 0.95)])
def test_a_small_change_is_accepted(changed: int, score: float) -> None:
    made, proof = exported(Speaker(said(0, 0.9), said(changed, score)))
    assert made == Spoken(b"bytes")
    assert (proof.answers, proof.changed) == (1000, changed)


@pytest.mark.parametrize(("changed", "score"), [(3, 0.9), (3, 0.95), (0, 0.8969)])
def test_a_larger_change_is_refused_with_the_figures(changed: int, score: float) -> None:
    with pytest.raises(
        GonieError, match=rf"too much: {changed} of 1,000 .* At least 99\.8% .*Nothing was written"
    ):
        exported(Speaker(said(0, 0.9), said(changed, score)))


def test_int8_products_that_change_too_much_are_left_out() -> None:
    """A network over a transformer has inputs of a wide range, and few int8 steps for most of them."""
    notes: list[str] = []
    made, proof = exported(Speaker(said(0, 0.9), bytes=said(13, 0.9), weights=said(1, 0.9)), notes)
    assert made == Spoken(b"weights")
    assert proof.changed == 1
    assert notes == [
        "int8 products change too much, so only the weights are int8: "
        "13 of 1,000 predictions changed (98.70% unchanged); f1 90.00% -> 90.00%"
    ]


def test_the_graph_gets_the_measured_ranges() -> None:
    speaker = Speaker(said(0, 0.9), said(0, 0.9))
    exported(speaker)
    (measured,) = speaker.graph.ranges.values()
    assert measured == Range(3.0, measured.state)
    assert 0 < measured.state < 1


def test_a_different_number_of_answers_is_an_error() -> None:
    with pytest.raises(ValueError, match="zip"):
        Int8Proof.of(said(0, 0.9), ScoredAnswers(["O"], "f1", 0.9))


def test_the_proof_is_summarised_in_one_line() -> None:
    proof = Int8Proof.of(said(0, 0.912), said(1, 0.9111))
    assert str(proof) == "1 of 1,000 predictions changed (99.90% unchanged); f1 91.20% -> 91.11%"


def test_values_within_the_tolerance_count_as_unchanged() -> None:
    """int8 values are never exactly equal, so models of values could not be exported without a tolerance."""
    floats = ScoredAnswers([1.0, 2.0, 3.0], "pearson", 0.8, tolerance=0.1)
    near, far = (
        ScoredAnswers([1.05, 2.0, 2.95], "pearson", 0.8),
        ScoredAnswers([1.05, 2.2, 3.0], "pearson", 0.8),
    )
    assert Int8Proof.of(floats, near).changed == 0
    assert Int8Proof.of(floats, far).changed == 1
