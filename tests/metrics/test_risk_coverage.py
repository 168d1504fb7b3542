"""Risk and coverage: if these break, the report promises fewer errors than there are."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gonie.metrics.risk_coverage import risk_coverage

DECISIONS = st.lists(
    st.tuples(st.sampled_from([0.1, 0.4, 0.5, 0.7, 0.9]), st.booleans()), min_size=1, max_size=6
)


def test_a_small_example() -> None:
    curve = risk_coverage([0.6, 0.9, 0.8, 0.7], [False, True, False, True])
    assert curve.risks.tolist() == pytest.approx([0, 1 / 2, 1 / 3, 2 / 4])
    assert curve.area == pytest.approx((0 + 1 / 2 + 1 / 3 + 2 / 4) / 4)
    assert curve.excess_area == pytest.approx(curve.area - (0 + 0 + 1 / 3 + 2 / 4) / 4)
    point = curve.at(0.5)
    assert (point.coverage, point.risk, point.threshold) == (0.5, 0.5, 0.8)


@settings(deadline=None)
@given(DECISIONS)
def test_ties_have_the_mean_risk_of_all_their_orders(decisions: list[tuple[float, bool]]) -> None:
    """Otherwise the curve would depend on the order of the file."""
    curves = []
    for order in itertools.permutations(decisions):
        kept = sorted(order, key=lambda pair: -pair[0])  # stable, so ties keep the order
        wrong = np.cumsum([not right for _, right in kept])
        curves.append(wrong / np.arange(1, len(kept) + 1))
    confidences, right = zip(*decisions, strict=True)
    found = risk_coverage(confidences, right)
    assert found.risks == pytest.approx(np.mean(curves, axis=0))
    assert found.excess_area >= -1e-12


@pytest.mark.parametrize(("coverage", "kept"), [(0.0, 1), (0.1, 1), (0.34, 4), (0.3, 3), (1.0, 10)])
def test_a_coverage_is_never_less_than_asked_for(coverage: float, kept: int) -> None:
    curve = risk_coverage(np.linspace(0.9, 0.5, 10), [True] * 10)
    assert curve.at(coverage).coverage == kept / 10
    assert curve.at(coverage).risk == 0


def test_the_json_has_ten_coverages_or_fewer() -> None:
    found = risk_coverage(np.linspace(0, 1, 200), [True, False] * 100).to_json()
    assert [point["coverage"] for point in found["points"]] == pytest.approx(np.arange(1, 11) / 10)  # type: ignore[attr-defined]
    assert found["aurc"] == pytest.approx(0.5, abs=0.02)
    assert len(risk_coverage([0.5], [True]).to_json()["points"]) == 1  # type: ignore[arg-type]


@given(DECISIONS, st.floats(0, 1))
def test_a_point_is_what_its_threshold_keeps(decisions: list[tuple[float, bool]], coverage: float) -> None:
    """A user who applies the threshold gets the coverage and the risk of the report."""
    confidences, right = (np.array(each) for each in zip(*decisions, strict=True))
    point = risk_coverage(confidences, right).at(coverage)
    kept = confidences >= point.threshold
    assert point.coverage == pytest.approx(kept.mean())
    assert point.risk == pytest.approx((~right[kept]).mean())
