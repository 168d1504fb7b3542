"""Predicted spans as decisions: if this breaks, calibration counts spans that were not predicted."""

from __future__ import annotations

from gonie.metrics.aligned import align_spans
from gonie.metrics.span_decisions import SpanDecisions
from gonie.text.types import Sentence


def test_each_predicted_span_is_one_decision_also_where_words_are_cut() -> None:
    """Gold spans inside tokens cut the words, but a predicted span keeps its probability."""
    sentence = Sentence(
        ("서울은", "왔다"), ("B-X", "O"), {}, "서울은 왔다", (0, 4), (3, 6), unreachable=((0, 2, "LC"),)
    )
    predicted = [(0, 1, "X"), (1, 2, "X")]
    found = SpanDecisions.of(
        [align_spans(sentence, [(0, 1, "X")], predicted)],
        [predicted],
        [[0.9, 0.8]],
        [{(0, 1, "X"): 0.7, (1, 2, "X"): 0.6}],
    )
    assert found.confidences.tolist() == [0.7, 0.6]
    assert found.right.tolist() == [True, False]
    assert [number for number, _ in found.places] == [0, 0]


def test_nothing_predicted_has_no_calibration() -> None:
    nothing = SpanDecisions.of([], [], [], [])
    assert nothing.calibration() is None
    assert nothing.risk_coverage() is None
