"""Tables of scores on the terminal, for taggers and classifiers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from rich.console import Console
from rich.table import Table
from rich.text import Text

from gonie.messages import say
from gonie.metrics.counts import Counts
from gonie.metrics.intervals import Interval, Intervals
from gonie.metrics.spans import SpanScores
from gonie.reports.report_page import percent, range_text
from gonie.reports.terminal import one_line

MOST_LABELS = 60
"""The maximum number of labels in a table. The rest are counted, and listed in the JSON output."""

_COLUMNS = ("gold", "predicted", "correct", "precision", "recall", "F1", "95% interval")


def print_labels(console: Console, name: str, scores: SpanScores, intervals: Intervals | None) -> None:
    """Print one row per label, most frequent first, then the averages. ``name`` heads the first column."""
    console.print(_labels(name, scores, intervals))
    left = len(scores.types) - MOST_LABELS
    if left > 0:
        console.print(Text(f"{left:,} rarer labels are not shown; --json lists them.", style="dim"))


def print_unknown(console: Console, labels: Mapping[str, int]) -> None:
    """Print the gold labels that the model cannot predict, if there are any."""
    if labels:
        named = ", ".join(f"{one_line(label)} ({count:,})" for label, count in labels.items())
        console.print(Text(f"Labels that the model cannot predict: {named}", style="yellow"))


def score_grid(columns: Sequence[str]) -> Table:
    """Return an empty table with left-aligned names and right-aligned numbers."""
    grid = Table(box=None, pad_edge=False, header_style="dim")
    for at, name in enumerate(columns):
        grid.add_column(name, justify="right" if at else "left", no_wrap=at > 0, overflow="fold")
    return grid


def _labels(name: str, scores: SpanScores, intervals: Intervals | None) -> Table:
    overall = {} if intervals is None else intervals.overall
    grid = score_grid((name, *_COLUMNS))
    for label, counts in scores.by_frequency[:MOST_LABELS]:
        own = None if intervals is None else intervals.types[label]["f1"]
        grid.add_row(Text(one_line(label)), *_cells(counts, own))
    grid.add_section()
    grid.add_row(say("micro"), *_cells(scores.micro, overall.get("f1")), style="bold")
    macro = scores.macro
    means = map(percent, (macro.precision, macro.recall, macro.f1))
    grid.add_row(say("macro"), "", "", "", *means, range_text(overall.get("macro_f1")))
    return grid


def _cells(counts: Counts, interval: Interval | None) -> list[str]:
    numbers = (counts.gold, counts.predicted, counts.correct)
    scores = (counts.precision, counts.recall, counts.f1)
    return [*(f"{number:,}" for number in numbers), *map(percent, scores), range_text(interval)]
