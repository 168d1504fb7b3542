"""The curve of risk and coverage: the errors among the most confident decisions."""

from __future__ import annotations

import numpy as np

from gonie.messages import say
from gonie.metrics.risk_coverage import RiskCoverage
from gonie.reports.html.markup import Markup, element
from gonie.reports.svg import GAP, Scale, across_line, left_margin, tick_labels, ticks

WIDTH, HEIGHT = 450, 220
RIGHT, TOP, BOTTOM = 14, 28, 172  # the edges of the plot
MARKS = (0.0, 0.25, 0.5, 0.75, 1.0)
POINTS = 200
"""The maximum number of points of the line."""


def risk_coverage_plot(curve: RiskCoverage, *, noun: str) -> Markup:
    """Render the share of wrong decisions against the share that is kept. ``noun`` is what they are."""
    total = len(curve.risks)
    places = np.unique(np.linspace(1, total, min(total, POINTS)).round().astype(int))  # decisions kept
    risks = 100 * curve.risks[places - 1]
    marks = ticks(0.0, max(float(risks.max()), 1.0))
    labels = tick_labels(marks)
    left = left_margin(labels)
    across, up = Scale(0, 1, left, WIDTH - RIGHT), Scale(marks[0], marks[-1], BOTTOM, TOP)
    path = " ".join(
        f"{across(k / total)},{up(y)}" for k, y in zip(places.tolist(), risks.tolist(), strict=True)
    )
    return element(
        "svg",
        element("title", say(f"Risk and coverage of {total:,} {noun}: area {100 * curve.area:.2f}")),
        element("text", say("Wrong, in percent"), x=0, y=14, class_="name"),
        *(
            across_line(up(mark), label, left=left, right=WIDTH - RIGHT)
            for mark, label in zip(marks, labels, strict=True)
        ),
        element("polyline", points=path, class_="line score"),
        *(
            element("text", f"{100 * mark:g}", x=across(mark), y=BOTTOM + 18, text_anchor="middle")
            for mark in MARKS
        ),
        element("text", say(f"most confident {noun} that are kept, in percent"), x=left - GAP, y=HEIGHT - 8),
        viewBox=f"0 0 {WIDTH} {HEIGHT}",
        role="img",
        class_="diagram",
    )
