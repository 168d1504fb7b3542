"""An evaluation on the terminal: the headline, then a table a type, then recall by novelty."""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import Console
from rich.table import Table
from rich.text import Text

from gonie.metrics.counts import Counts
from gonie.metrics.evaluation import Evaluation
from gonie.metrics.intervals import Interval
from gonie.metrics.page import percent, range_text
from gonie.metrics.report import how_scored, novelty_names

MOST_LABELS = 60
"""A terminal is no place for a thousand labels; the rest is counted and is in the JSON."""


def print_evaluation(console: Console, evaluation: Evaluation) -> None:
    """Print scores in percent, as conlleval does; labels are shown as they are, never read as markup."""
    console.print(_headline(evaluation))
    console.print(_types(evaluation))
    left = len(evaluation.spans.types) - MOST_LABELS
    if left > 0:
        console.print(Text(f"{left:,} rarer labels left out here; --json has them.", style="dim"))
    if evaluation.novelty is not None:
        console.print(_novelty(evaluation))
    if evaluation.unknown_labels:
        named = ", ".join(f"{label} ({count:,})" for label, count in evaluation.unknown_labels.items())
        console.print(Text(f"Labels the model does not know: {named}", style="yellow"))
    console.print(Text(how_scored(evaluation), style="dim"))


def _headline(evaluation: Evaluation) -> Text:
    name, value = evaluation.headline
    line = Text.assemble(
        ("Accuracy " if name == "accuracy" else "F1 ", "bold"), (percent(value), "bold green")
    )
    if evaluation.intervals is not None:
        line.append(f"  95% interval {range_text(evaluation.interval(name))}")
    if not evaluation.plain:
        micro = evaluation.spans.micro
        line.append(f"  precision {percent(micro.precision)}  recall {percent(micro.recall)}")
        line.append(f"  token accuracy {percent(evaluation.tokens.accuracy)}")
    line.append(f"  ({evaluation.sentences:,} sentences, {evaluation.tokens.tokens:,} tokens)", style="dim")
    return line


def _types(evaluation: Evaluation) -> Table:
    grid = _grid(("label" if evaluation.plain else "type", *_COLUMNS))
    for label, counts in evaluation.by_frequency[:MOST_LABELS]:
        grid.add_row(Text(label), *_cells(counts, evaluation.type_interval(label)))
    grid.add_section()
    grid.add_row("micro", *_cells(evaluation.spans.micro, evaluation.interval("f1")), style="bold")
    macro = evaluation.spans.macro
    scores = map(percent, (macro.precision, macro.recall, macro.f1))
    grid.add_row("macro", "", "", "", *scores, range_text(evaluation.interval("macro_f1")))
    return grid


def _cells(counts: Counts, interval: Interval | None) -> list[str]:
    numbers = (counts.gold, counts.predicted, counts.correct)
    scores = (counts.precision, counts.recall, counts.f1)
    return [*(f"{number:,}" for number in numbers), *map(percent, scores), range_text(interval)]


_COLUMNS = ("gold", "predicted", "correct", "precision", "recall", "F1", "95% interval")


def _novelty(evaluation: Evaluation) -> Table:
    names = novelty_names(evaluation)
    grid = _grid(("word" if evaluation.plain else "mention", "gold", "found", "recall", "95% interval"))
    for kind, found in (evaluation.novelty or {}).items():
        interval = range_text(evaluation.novelty_interval(kind))
        shown = (percent(found.recall), interval) if found.gold else ("–", "")
        grid.add_row(names[kind], f"{found.gold:,}", f"{found.correct:,}", *shown)
    return grid


def _grid(columns: Sequence[str]) -> Table:
    grid = Table(box=None, pad_edge=False, header_style="dim")
    for at, name in enumerate(columns):
        grid.add_column(name, justify="right" if at else "left", no_wrap=at > 0)
    return grid
