"""The reliability diagram: accuracy of decisions against their predicted probability.

A column below the dashed line is overconfident, one above it underconfident. The gap is filled and also given
as text. The small columns below show the number of decisions per bin.
"""

from __future__ import annotations

from gonie.messages import say
from gonie.metrics.reliability import Bin, Reliability
from gonie.reports.html.markup import Markup, element
from gonie.reports.svg import Scale, across_line

WIDTH, HEIGHT = 450, 378
LEFT, RIGHT, TOP, BOTTOM = 46, 14, 28, 276  # the edges of the upper plot
SHARES = (292, 340)  # top and bottom of the lower plot
MARKS = (0.0, 0.25, 0.5, 0.75, 1.0)


def reliability_diagram(reliability: Reliability, *, noun: str) -> Markup:
    """Render the bins as columns over their probabilities. ``noun`` is what they count: texts, labels."""
    across, up = Scale(0, 1, LEFT, WIDTH - RIGHT), Scale(0, 1, BOTTOM, TOP)
    most = max(each.count for each in reliability.bins)
    told = (
        f"Reliability: {len(reliability.bins)} bins, expected calibration error {100 * reliability.error:.2f}"
    )
    return element(
        "svg",
        element("title", say(told)),
        element("text", say("Correct, in percent"), x=LEFT, y=14, class_="name"),
        *(across_line(up(mark), f"{100 * mark:g}", left=LEFT, right=WIDTH - RIGHT) for mark in MARKS),
        *(_column(each, across, up, noun) for each in reliability.bins),
        element("line", x1=across(0), y1=up(0), x2=across(1), y2=up(1), class_="diagonal"),
        *(_share(each, across, Scale(0, most, SHARES[1], SHARES[0])) for each in reliability.bins),
        *(
            element("text", f"{100 * mark:g}", x=across(mark), y=SHARES[1] + 14, text_anchor="middle")
            for mark in MARKS
        ),
        element(
            "text", say(f"predicted probability in percent (grey: number of {noun})"), x=LEFT, y=HEIGHT - 4
        ),
        viewBox=f"0 0 {WIDTH} {HEIGHT}",
        role="img",
        class_="diagram",
    )


def _column(each: Bin, across: Scale, up: Scale, noun: str) -> Markup:
    """Render the accuracy as a column, and the gap between it and the predicted probability."""
    middle = up(each.accuracy), up(each.confidence)
    return element(
        "g",
        element("title", say(bin_text(each, noun))),
        _box(each, across, middle[0], BOTTOM, "column"),
        _box(each, across, min(middle), max(middle), "gap"),
    )


def _share(each: Bin, across: Scale, up: Scale) -> Markup:
    return _box(each, across, up(each.count), SHARES[1], "share")


def _box(each: Bin, across: Scale, top: float, bottom: float, kind: str) -> Markup:
    left, right = across(each.low) + 1, across(each.high) - 1
    width, height = round(max(right - left, 1), 1), round(bottom - top, 1)
    return element("rect", x=round(left, 1), y=top, width=width, height=height, class_=kind)


def bin_text(each: Bin, noun: str) -> str:
    """Return one bin as text."""
    return (
        f"{100 * each.low:.0f}–{100 * each.high:.0f}: {each.count:,} {noun}, "
        f"predicted {100 * each.confidence:.1f}, correct {100 * each.accuracy:.1f}"
    )
