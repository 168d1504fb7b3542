"""The curve of risk and coverage: if this breaks, reports with one span or thousands of them fail or grow."""

from __future__ import annotations

import re
from xml.etree import ElementTree

import numpy as np
import pytest

from gonie.metrics.risk_coverage import risk_coverage
from gonie.reports.calibration_section import risk_section
from gonie.reports.risk_coverage_plot import HEIGHT, POINTS, WIDTH, risk_coverage_plot


@pytest.mark.parametrize("number", [1, 2, 7, 5000])
@pytest.mark.parametrize("share", [0.0, 0.3, 1.0])
def test_the_line_stays_in_the_drawing(number: int, share: float) -> None:
    generator = np.random.default_rng(0)
    curve = risk_coverage(generator.random(number), generator.random(number) >= share)
    drawing = risk_coverage_plot(curve, noun="spans")
    ElementTree.fromstring(str(drawing))
    (line,) = re.findall(r'<polyline points="([^"]*)"', drawing)
    points = [tuple(map(float, point.split(","))) for point in line.split()]
    assert 1 <= len(points) <= POINTS
    assert all(0 <= x <= WIDTH and 0 <= y <= HEIGHT for x, y in points)
    assert [x for x, _ in points] == sorted(x for x, _ in points)
    assert f"Risk and coverage of {number:,} spans" in drawing


def test_the_table_has_the_threshold_of_each_coverage() -> None:
    page = risk_section(risk_coverage([0.9, 0.8, 0.7, 0.6], [True, True, False, True]), noun="spans")
    assert "kept spans" in page
    assert "80.00" in page
    assert "6.25" not in page, "the area is 14.58"
    assert "14.58" in page
