"""Calibration in reports: the reliability diagram, the curve of risk and coverage, and their numbers."""

from __future__ import annotations

from collections.abc import Mapping

from gonie.messages import say
from gonie.metrics.calibration import Calibration
from gonie.metrics.reliability import Reliability
from gonie.metrics.risk_coverage import RiskCoverage
from gonie.reports.html.frame import facts, folded, note
from gonie.reports.html.markup import Markup, fragment, row, table
from gonie.reports.reliability_diagram import reliability_diagram
from gonie.reports.report_page import percent
from gonie.reports.risk_coverage_plot import risk_coverage_plot

DIAGRAM_NOTE = (
    "Columns that end on the dashed line are well calibrated. "
    "Below it, the model is overconfident. The gap is orange."
)
PERFECT_NOTE = (
    "A perfectly calibrated model also shows an error, because bins are small. "
    "It is given beside that of the model, for the same number of decisions."
)
RISK_NOTE = "If the model keeps only its most confident answers, this share of them is wrong."


def error_text(reliability: Reliability) -> str:
    """Return the calibration error in percent, and that of a perfectly calibrated model."""
    return say(f"{percent(reliability.error)} (perfect model: {percent(reliability.perfect_error)})")


def calibration_section(calibration: Calibration, *, noun: str, scores: Mapping[str, str]) -> Markup:
    """Render the diagram, both errors, further ``scores`` and the bins. ``noun`` is what is predicted."""
    values = {
        "error, equal width": error_text(calibration.width),
        "error, equal size": error_text(calibration.mass),
        **scores,
    }
    header = ("probability", noun, "mean predicted", "correct", "difference")
    rows = [
        row(
            f"{percent(each.low)}–{percent(each.high)}",
            f"{each.count:,}",
            percent(each.confidence),
            percent(each.accuracy),
            f"{100 * (each.accuracy - each.confidence):+z.2f}",
            names=header,
        )
        for each in calibration.width.bins
    ]
    inner = table(caption="Bins of equal width, in percent", header=header, rows=rows, class_="stack")
    return fragment(
        note(DIAGRAM_NOTE),
        reliability_diagram(calibration.width, noun=noun),
        facts(values),
        note(PERFECT_NOTE),
        folded(f"{len(rows)} bins", inner),
    )


def risk_section(curve: RiskCoverage, *, noun: str) -> Markup:
    """Render the curve of risk and coverage, and some of its points."""
    header = (f"kept {noun}", "wrong", "lowest probability")
    rows = [
        row(percent(point.coverage), percent(point.risk), percent(point.threshold), names=header)
        for point in curve.points()
    ]
    inner = table(caption="Risk and coverage, in percent", header=header, rows=rows, class_="stack")
    values = {"area (AURC)": percent(curve.area), "above the best order": percent(curve.excess_area)}
    return fragment(
        note(RISK_NOTE),
        risk_coverage_plot(curve, noun=noun),
        facts(values),
        folded(f"{len(rows)} coverages", inner),
    )
