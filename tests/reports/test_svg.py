"""SVG drawings: if these break, the training curve is missing, wrong or unreadable."""

import re

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from gonie.reports.svg import Scale, interval_bar, points, tick_labels, ticks, training_curve

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


def test_the_axis_of_the_loss_does_not_go_below_zero():
    """At the end of training, rounding errors make a loss of zero slightly negative."""
    records = [{"epoch": n, "loss": loss} for n, loss in enumerate((7.5, 0.01, -1e-8), 1)]
    labels = re.findall(r'text-anchor="end">([^<]*)<', training_curve(records))
    assert labels[0] == "0"
    assert not any(label.startswith("-") for label in labels)


def test_no_values_give_no_curve():
    assert training_curve([]) is None
    assert training_curve([{"epoch": 1}]) is None


def test_the_best_epoch_is_the_last_that_improved():
    scores = (0.4, 0.75, 0.75, 0.75, 0.2)
    improved = (True, True, True, False, False)
    records = [
        {"epoch": n, "score": score, "improved": better}
        for n, (score, better) in enumerate(zip(scores, improved, strict=True), 1)
    ]
    markup = training_curve(records)
    assert "best 75.00, last in epoch 3" in markup
    assert "best 75.00 in epoch 2" in training_curve(records[:2])
    (x, y) = re.search(r'cx="([\d.]+)" cy="([\d.]+)" r="6"', markup).groups()
    assert f"{x},{y}" == re.search(r'points="([^"]*)"', markup)[1].split()[2]
    assert "best" not in training_curve([{"epoch": 1, "score": 0.5}])


@pytest.mark.parametrize(
    ("marks", "labels"),
    [
        ([0.0, 0.0005, 0.001], ["0.0000", "0.0005", "0.0010"]),
        ([30.8, 31.0, 31.2], ["30.8", "31.0", "31.2"]),
        ([0.0, 1e-6], ["0", "1e-06"]),
        ([0.0, 5e6], ["0", "5e+06"]),
        ([0, 20, 40], ["0", "20", "40"]),
    ],
)
def test_tick_labels_have_the_same_decimals(marks, labels):
    assert tick_labels(marks) == labels


def test_labels_of_the_vertical_axis_fit_into_the_margin():
    markup = training_curve([{"epoch": n, "rate": 0.00015 * n} for n in range(1, 5)])
    labels = re.findall(r'<text x="([\d.]+)" [^>]*text-anchor="end">([\d.]+)<', markup)
    assert any(len(label) > 5 for _, label in labels)
    assert all(7 * len(label) <= float(x) for x, label in labels)  # a digit is about 7 units wide


@settings(deadline=None, max_examples=100)
@given(st.floats(1e-9, 1e9), st.floats(1, 100))
@example(1e-9, 1.000001)
@example(1e-9, 1.0000000000000002)
@example(1e-9, 1.00000000001)
def test_labels_of_any_length_fit_into_the_margin_in_a_wide_font(rate, growth):
    markup = training_curve([{"epoch": n, "rate": rate * growth**n} for n in range(3)])
    labels = re.findall(r'<text x="([\d.]+)" [^>]*text-anchor="end">([^<]+)<', markup)
    assert labels
    assert all(7.7 * len(label) <= float(x) for x, label in labels)  # DejaVu Sans at 12 px


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
