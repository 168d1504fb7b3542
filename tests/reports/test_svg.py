"""SVG drawings: if these break, the training curve is missing, wrong or unreadable."""

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gonie.reports.svg import Scale, interval_bar, points, ticks, training_curve

RECORDS = [
    {"epoch": n, "loss": 9 / n, "score": 0.5 + n / 20, "rate": 0.1, "seconds": 2.0} for n in range(1, 6)
]


def test_each_recorded_quantity_has_a_panel():
    assert training_curve(RECORDS).count("<svg") == 4
    assert training_curve([{"epoch": 1, "loss": 2.0}]).count("<svg") == 1
    assert training_curve([record | {"train_score": None} for record in RECORDS]).count("<svg") == 4
    assert training_curve([record | {"train_score": 0.9} for record in RECORDS]).count("<svg") == 5


def test_the_curve_names_the_unit_of_the_loss():
    assert "Training loss per sentence" in training_curve(RECORDS)
    assert "Training loss per text" in training_curve(RECORDS, unit="text")


def test_no_values_give_no_curve():
    assert training_curve([]) is None
    assert training_curve([{"epoch": 1}]) is None


def test_the_best_epoch_is_named():
    assert "best 75 in epoch 5" in training_curve(RECORDS)


def test_values_that_are_not_finite_numbers_are_left_out():
    records = [
        {"epoch": 1, "loss": float("nan")},
        {"epoch": 2, "loss": "<script>"},
        {"epoch": 3, "loss": float("inf")},
        {"epoch": 4, "loss": True},
        {"loss": 1.0},
        {"epoch": 5, "loss": 1},
    ]
    assert points(records, "loss") == [(5.0, 1.0)]
    assert "script" not in training_curve(records)


@settings(deadline=None, max_examples=200)
@given(st.floats(-1e9, 1e9), st.floats(1e-6, 1e9))
def test_ticks_are_few_and_span_the_values(low, width):
    high = low + width
    marks = ticks(low, high)
    slack = 1e-6 * (marks[-1] - marks[0]) + 1e-14 * abs(low)  # allows for the rounding of large numbers
    assert 2 <= len(marks) <= 8
    assert marks[0] <= low + slack
    assert high - slack <= marks[-1]


@pytest.mark.parametrize("value", [0.0, 0.5, -3.0, 1e-9])
def test_ticks_surround_a_single_value(value):
    assert ticks(value, value)[0] < value < ticks(value, value)[-1]


def test_every_point_is_inside_the_drawing():
    markup = training_curve(RECORDS)
    pairs = " ".join(re.findall(r'points="([^"]*)"', markup)).split()
    assert len(pairs) >= 2 * len(RECORDS)
    for pair in pairs:
        x, y = map(float, pair.split(","))
        assert 0 <= x <= 450
        assert 0 <= y <= 160


def test_a_scale_maps_its_ends():
    scale = Scale(2, 4, 100, 0)
    assert (scale(2), scale(3), scale(4)) == (100, 50, 0)


def test_an_interval_bar_has_a_whisker_only_with_an_interval():
    assert "whisker" in interval_bar(0.5, (0.4, 0.6))
    assert "whisker" not in interval_bar(0.5, None)
