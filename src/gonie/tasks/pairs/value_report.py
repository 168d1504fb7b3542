"""The HTML report of a model of values: correlation, a scatter plot, and the largest differences."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from gonie.messages import say
from gonie.reports.html.frame import chapters, note, page
from gonie.reports.html.markup import Markup, element, fragment, language, row, table
from gonie.reports.report_page import details_of, opening, percent
from gonie.reports.report_style import STYLE
from gonie.reports.svg import Scale, across_line, left_margin, tick_labels, ticks, training_curve
from gonie.tasks.pairs.values import PairError, ValueEvaluation

SIDE, TOP, RIGHT, BOTTOM = 380, 28, 14, 42
"""The side of the plot, and the margins around it."""
MOST_POINTS, MOST_ERRORS = 2000, 20
TOLD = "Pearson's correlation of the predicted with the gold values; Spearman's is that of their ranks."


def render_values(
    evaluation: ValueEvaluation,
    *,
    title: str,
    curve: Sequence[Mapping[str, object]] = (),
    details: Mapping[str, object] | None = None,
    first: Mapping[str, Markup | None] | None = None,
) -> str:
    """Render the report as one HTML file. ``curve``, ``details`` and ``first`` are as for taggers."""
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
        chapters(
            {
                **(first or {}),
                "Predicted and gold values": _scatter(evaluation),
                "Largest errors": _errors(evaluation.errors()[:MOST_ERRORS]),
                "Training": training_curve(curve, unit="pair"),
                "Details": details_of(details or {}),
            }
        ),
        style=STYLE,
    )


def _scatter(evaluation: ValueEvaluation) -> Markup:
    """Draw one dot per pair, gold across and predicted upwards on the same scale, and the diagonal."""
    step = max(1, evaluation.pairs // MOST_POINTS)
    gold, predicted = evaluation.gold[::step], evaluation.predicted[::step]
    marks = ticks(min(*gold, *predicted), max(*gold, *predicted), 5)
    labels = tick_labels(marks)
    left = left_margin(labels)
    right, bottom = left + SIDE, TOP + SIDE
    across, up = Scale(marks[0], marks[-1], left, right), Scale(marks[0], marks[-1], bottom, TOP)
    drawing = element(
        "svg",
        element("title", say(f"Predicted values over gold values of {len(gold):,} pairs")),
        element("text", say("predicted value"), x=left, y=14, class_="name"),
        *(
            fragment(
                across_line(up(mark), label, left=left, right=right),
                element("line", x1=across(mark), x2=across(mark), y1=TOP, y2=bottom, class_="grid"),
                element("text", label, x=across(mark), y=bottom + 16, text_anchor="middle"),
            )
            for mark, label in zip(marks, labels, strict=True)
        ),
        element("line", x1=left, y1=bottom, x2=right, y2=TOP, class_="diagonal"),
        *(
            element("circle", cx=across(x), cy=up(y), r=2.5, class_="pair")
            for x, y in zip(gold, predicted, strict=True)
        ),
        element("text", say("gold value"), x=right, y=bottom + 36, text_anchor="end", class_="name"),
        viewBox=f"0 0 {right + RIGHT:g} {bottom + BOTTOM}",
        role="img",
        class_="diagram",
    )
    return fragment(note("Each dot is a pair. On the dashed line, prediction and gold agree."), drawing)


def _errors(errors: Sequence[PairError]) -> Markup:
    rows = [row(error.gold, error.predicted, _texts(error), head=0) for error in errors]
    return table(
        caption="Largest difference first",
        header=("gold", "predicted", "pair"),
        rows=rows,
        class_="texts",
    )


def _texts(error: PairError) -> Markup:
    """Render the two texts of a pair, one below the other, and where they are."""
    place = f"{error.file}:{error.line}" if error.file else None
    return fragment(
        *(element("p", element("bdi", text), lang=language(text)) for text in (error.text, error.text_pair)),
        None if place is None else element("p", place, class_="place"),
    )
