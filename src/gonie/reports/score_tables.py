"""The two tables of every report: scores per label, and the confusion matrix."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from gonie.messages import say
from gonie.metrics.counts import Counts
from gonie.metrics.intervals import Interval, Intervals
from gonie.metrics.labels import Confusion
from gonie.metrics.spans import Average, SpanScores
from gonie.reports.html.colors import heat_class
from gonie.reports.html.frame import note
from gonie.reports.html.markup import Child, Markup, element, escape, fragment, row, table
from gonie.reports.report_page import percent, range_text
from gonie.reports.svg import interval_bar

MOST_LABELS, MOST_CELLS = 100, 24
"""The maximum number of labels in a score table and in a confusion table."""

COLUMNS = ("", "gold", "predicted", "correct", "precision", "recall", "F1", "95% interval", "0 – 100")
"""The columns of a table of scores."""

CONFUSION_NOTE = "Rows are gold, columns are predicted. Darker cells have a larger share of their row."


def label_scores(
    scores: SpanScores, intervals: Intervals | None, colors: Mapping[str, str] | None = None
) -> Markup:
    """Render the counts and scores of every label, most frequent first, then their averages.

    ``colors`` are the classes of ``label_classes``, for pages that mark spans in colour.
    """
    ordered = scores.by_frequency
    overall = {} if intervals is None else intervals.overall
    rows = [
        *(
            score_row(
                _chip(label, colors), counts, None if intervals is None else intervals.types[label]["f1"]
            )
            for label, counts in ordered[:MOST_LABELS]
        ),
        score_row(say("all (micro)"), scores.micro, overall.get("f1"), class_="total"),
        average_row(say("all (macro)"), scores.macro, overall.get("macro_f1")),
    ]
    left = len(ordered) - MOST_LABELS
    return fragment(
        score_table("Scores in percent, most frequent first", rows),
        note(f"{left:,} rarer labels are only in the JSON output.") if left > 0 else None,
    )


def _chip(label: str, colors: Mapping[str, str] | None) -> Child:
    return label if colors is None else element("span", label, class_=f"tag {colors[label]}")


def score_table(caption: str, rows: Sequence[Markup]) -> Markup:
    """Render a table of rows from ``score_row`` and ``average_row``."""
    return table(caption=caption, header=COLUMNS, rows=rows, class_="stack")


def score_row(label: Child, counts: Counts, interval: Interval | None, class_: str | None = None) -> Markup:
    """Render the row of one label."""
    numbers = (f"{number:,}" for number in (counts.gold, counts.predicted, counts.correct))
    scores = map(percent, (counts.precision, counts.recall, counts.f1))
    cells = (*numbers, *scores, range_text(interval), interval_bar(counts.f1, interval))
    return row(label, *cells, names=COLUMNS, class_=class_)


def average_row(name: str, average: Average, interval: Interval | None) -> Markup:
    """Render the row of an average, which has no counts."""
    scores = map(percent, (average.precision, average.recall, average.f1))
    cells = ("", "", "", *scores, range_text(interval), interval_bar(average.f1, interval))
    return row(name, *cells, names=COLUMNS)


def confusion_table(confusion: Confusion, *, boundaries: bool) -> Markup:
    """Render the confusion of the most frequent labels, and a note on how many pairs are left out.

    With ``boundaries`` the table also counts wrong boundaries, missed spans and spurious spans.
    """
    labels = confusion.labels
    shown = labels[:MOST_CELLS]
    rows = []
    for gold in shown:
        cells = [confusion.pairs[gold, predicted] for predicted in shown]
        cells += [confusion.gold_boundary[gold], confusion.missed[gold]] if boundaries else []
        rows.append(_shaded(gold, cells, right=shown.index(gold)))
    if boundaries:
        for name, part in (
            ("wrong boundary", confusion.predicted_boundary),
            ("spurious", confusion.spurious),
        ):
            rows.append(_shaded(say(name), [part[label] for label in shown], right=None, blank=2))
    extra = (say("wrong boundary"), say("missed")) if boundaries else ()
    header = ("gold ↓ predicted →", *map(escape, shown), *extra)
    return fragment(
        table(caption="Counts", header=header, rows=rows, class_="shades sticky"),
        None if len(labels) == len(shown) else note(_rest(confusion, shown)),
    )


def _rest(confusion: Confusion, shown: Sequence[str]) -> str:
    kept = set(shown)
    rest = sum(count for pair, count in confusion.pairs.items() if not kept.issuperset(pair))
    return (
        f"The {len(shown)} most frequent labels; {rest:,} pairs with rarer ones are only in the JSON output."
    )


def _shaded(name: str, cells: Sequence[int], *, right: int | None, blank: int = 0) -> Markup:
    total = sum(cells) or 1
    shown = [_cell(count, count / total, right=at == right) for at, count in enumerate(cells)]
    return row(name, *shown, *[element("td", "")] * blank)


def _cell(count: int, share: float, *, right: bool) -> Markup:
    kind = "right " if right else "" if count else "none "
    return element("td", f"{count:,}" if count else "·", class_=f"{kind}{heat_class(share**0.5)}")
