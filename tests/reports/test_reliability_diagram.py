"""Reliability diagrams: if these break, a classifier looks better calibrated than it is."""

import re

import numpy as np

from gonie.metrics.reliability import Bin, Reliability, equal_width, reliability
from gonie.reports.reliability_diagram import BOTTOM, HEIGHT, TOP, WIDTH, bin_text, reliability_diagram


def boxes(markup, kind):
    found = re.findall(r'<rect x="(.*?)" y="(.*?)" width="(.*?)" height="(.*?)" class="(.*?)">', markup)
    return [tuple(map(float, box[:4])) for box in found if box[4] == kind]


def test_a_column_shows_accuracy_and_a_gap_shows_confidence():
    markup = reliability_diagram(Reliability((Bin(0.5, 1.0, 8, 0.75, 0.5),)), noun="texts")
    height = BOTTOM - TOP
    ((_, top, _, tall),) = boxes(markup, "column")
    assert (top, tall) == (BOTTOM - height / 2, height / 2)
    ((_, gap_top, _, gap),) = boxes(markup, "gap")
    assert (gap_top, gap) == (BOTTOM - 0.75 * height, height / 4)
    assert "expected calibration error 25.00" in markup
    assert "50–100: 8 texts, predicted 75.0, correct 50.0" in markup


def test_everything_is_inside_the_drawing():
    generator = np.random.default_rng(0)
    confidences = generator.random(500)
    found = reliability(confidences, generator.random(500) < 0.5, equal_width(15))
    markup = reliability_diagram(found, noun="labels")
    for kind in ("column", "gap", "share"):
        assert len(boxes(markup, kind)) == 15
        for x, y, width, height in boxes(markup, kind):
            assert 0 <= x <= x + width <= WIDTH
            assert 0 <= y <= y + height <= HEIGHT


def test_a_very_narrow_bin_is_visible():
    markup = reliability_diagram(Reliability((Bin(0.999, 1.0, 3, 1.0, 1.0),)), noun="texts")
    assert boxes(markup, "column")[0][2] >= 1


def test_a_bin_is_described_in_words():
    assert (
        bin_text(Bin(0.8, 0.9, 1200, 0.85, 0.7), "texts")
        == "80–90: 1,200 texts, predicted 85.0, correct 70.0"
    )
