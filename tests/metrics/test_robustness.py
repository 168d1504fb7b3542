"""Scores under noise are means of draws."""

from __future__ import annotations

import pytest

from gonie.metrics.robustness import NoiseCurve, NoiseScore


def test_a_level_is_the_mean_of_its_draws() -> None:
    score = NoiseScore("typos", 0.1, "f1", (0.5, 0.7, 0.6), clean=0.8)
    assert score.score == pytest.approx(0.6)
    assert score.spread == (0.5, 0.7)
    assert score.to_json() == {
        "kind": "typos",
        "rate": 0.1,
        "f1": pytest.approx(0.6),
        "change": pytest.approx(-0.2),
        "draws": [0.5, 0.7, 0.6],
    }


def test_a_curve_is_cut_by_kind() -> None:
    levels = [NoiseScore(kind, rate, "f1", (0.5,), 0.5) for kind, rate in [("none", 0), ("typos", 1)]]
    curve = NoiseCurve(tuple(levels), 2, 3)
    assert curve.of_kind("typos") == levels[1:]
    assert [record["kind"] for record in curve.to_json()] == ["none", "typos"]
