"""The HTML report of a model of values: correlation, a scatter plot, and the largest differences."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from gonie.reports.html.frame import note, page, section
from gonie.reports.html.markup import Markup, element, fragment, row, table
from gonie.reports.report_page import detail_section, opening, percent, training
from gonie.reports.report_style import STYLE
from gonie.tasks.pairs.values import PairError, ValueEvaluation

SIDE, MARGIN = 320, 30
MOST_POINTS, MOST_ERRORS = 2000, 20
TOLD = "Pearson's correlation of the predicted with the gold values; Spearman's is that of their ranks."


def render_values(
    evaluation: ValueEvaluation,
    *,
    title: str,
    curve: Sequence[Mapping[str, object]] = (),
    details: Mapping[str, object] | None = None,
) -> str:
    """Render the report as one HTML file. ``curve`` has the epochs of the run, if there is one."""
    return page(
        title,
        opening(
            title,
            score=evaluation.pearson,
            measure="Pearson's correlation",
            interval=evaluation.pearson_interval,
            values={
                "Spearman": percent(evaluation.spearman),
                "mean absolute error": f"{evaluation.mean_absolute_error:.3f}",
                "root mean squared error": f"{evaluation.root_mean_squared_error:.3f}",
                "pairs": f"{evaluation.pairs:,}",
            },
            told=TOLD,
            unknown={},
        ),
        training(curve, unit="pair"),
        section("Predicted and gold values", _scatter(evaluation)),
        _errors(evaluation.errors()[:MOST_ERRORS]),
        detail_section(details or {}),
        style=STYLE,
    )


def _scatter(evaluation: ValueEvaluation) -> Markup:
    """Draw one dot per pair, gold across and predicted upwards, and the diagonal."""
    step = max(1, evaluation.pairs // MOST_POINTS)
    gold, predicted = evaluation.gold[::step], evaluation.predicted[::step]
    low, high = min(*gold, *predicted), max(*gold, *predicted)
    room = (SIDE - 2 * MARGIN) / ((high - low) or 1.0)
    dots = [
        element(
            "circle", cx=f"{MARGIN + (x - low) * room:.1f}", cy=f"{SIDE - MARGIN - (y - low) * room:.1f}", r=2
        )
        for x, y in zip(gold, predicted, strict=True)
    ]
    ends = {"x1": MARGIN, "y1": SIDE - MARGIN, "x2": SIDE - MARGIN, "y2": MARGIN}
    drawing = element(
        "svg",
        element("line", **ends, stroke="currentColor", stroke_dasharray="4 4"),
        element("g", *dots, fill="currentColor", fill_opacity="0.35"),
        element(
            "text",
            f"gold {low:g} to {high:g}",
            x=SIDE / 2,
            y=SIDE - 6,
            text_anchor="middle",
            fill="currentColor",
        ),
        viewBox=f"0 0 {SIDE} {SIDE}",
        width=SIDE,
        role="img",
        aria_label="predicted values over gold values",
    )
    told = (
        "Each dot is a pair: its gold value across, the predicted one upwards. On the dashed line they agree."
    )
    return fragment(note(told), drawing)


def _errors(errors: Sequence[PairError]) -> Markup:
    rows = [row(error.kind, error.gold, error.predicted, error.text, error.text_pair) for error in errors]
    header = ("error", "gold", "predicted", "text", "text pair")
    return section("Largest errors", table(caption="Values and texts of pairs", header=header, rows=rows))
