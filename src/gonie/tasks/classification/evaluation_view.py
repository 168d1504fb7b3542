"""The evaluation of a classifier on the terminal: scores, labels, confusions, calibration, text lengths."""

from __future__ import annotations

from rich.console import Console
from rich.table import Table
from rich.text import Text

from gonie.messages import say
from gonie.metrics.calibration import Calibration
from gonie.metrics.class_errors import ClassError
from gonie.metrics.classes import ClassEvaluation
from gonie.metrics.labels import Confusion
from gonie.reports.calibration_line import calibration_line
from gonie.reports.class_report import how_classes_scored, log_loss_text
from gonie.reports.error_list import Cells, label_cell
from gonie.reports.report_page import percent, range_text
from gonie.reports.score_grid import print_labels, print_unknown, score_grid
from gonie.reports.terminal import one_line
from gonie.text.report import count

NAMES = {"accuracy": "Accuracy", "f1": "F1", "relation_f1": "Official macro F1"}
BEGINNING, END = 100, 60
"""Characters shown at the beginning and end of a long misclassified text."""
MOST_PAIRS = 10
"""Maximum number of confused label pairs shown."""


def print_class_evaluation(console: Console, evaluation: ClassEvaluation, *, noun: str = "texts") -> None:
    """Print scores in percent. Labels are not interpreted as markup. ``noun`` is what the model labels."""
    console.print(_headline(evaluation, noun))
    print_labels(console, "label", evaluation.scores, evaluation.intervals)
    if evaluation.confusion is not None and evaluation.right < evaluation.texts:
        console.print(_confusions(evaluation.confusion, noun))
    if len(evaluation.lengths) > 1:
        console.print(_lengths(evaluation, noun))
    if evaluation.calibration is not None:
        console.print(_calibration(evaluation.calibration, evaluation.unknown))
    print_unknown(console, evaluation.unknown_labels)
    console.print(Text(how_classes_scored(evaluation, noun), style="dim"))


def _headline(evaluation: ClassEvaluation, noun: str) -> Text:
    name, value = evaluation.headline
    line = Text.assemble((f"{say(NAMES[name])} ", "bold"), (percent(value), "bold green"))
    if evaluation.intervals is not None:
        line.append(say(f"  95% interval {range_text(evaluation.interval(name))}"))
    if name != "accuracy":
        line.append(say(f"  accuracy {percent(evaluation.accuracy)}"))
    line.append(say(f"  macro F1 {percent(evaluation.scores.macro.f1)}"))
    if evaluation.auc is not None:
        line.append(say(f"  ROC AUC {percent(evaluation.auc)}"))
    return line.append(f"  ({say(count(evaluation.texts, noun.removesuffix('s')))})", style="dim")


def _confusions(confusion: Confusion, noun: str) -> Table:
    """Return a table of confused labels, the most frequent pairs first."""
    wrong = [(pair, number) for pair, number in confusion.pairs.items() if pair[0] != pair[1] and number]
    grid = score_grid(("gold", "predicted as", noun))
    for (gold, predicted), number in sorted(wrong, key=lambda item: -item[1])[:MOST_PAIRS]:
        grid.add_row(Text(one_line(gold)), Text(one_line(predicted)), f"{number:,}")
    return grid


def _lengths(evaluation: ClassEvaluation, noun: str) -> Table:
    grid = score_grid(("tokens", noun, "F1", "95% interval"))
    for score in evaluation.lengths:
        bounds = f"{score.low:,}–{score.high:,}"
        grid.add_row(bounds, f"{score.texts:,}", percent(score.counts.f1), range_text(score.interval))
    return grid


def _calibration(calibration: Calibration, unknown: int) -> Text:
    line = calibration_line(calibration)
    line.append(say(f"  log loss {log_loss_text(calibration, unknown)}"))
    return line.append(say(f"  Brier score {calibration.brier:.4f}"))


def text_cells(error: ClassError) -> Cells:
    """Return the labels of a text, and the text, or its beginning and end if it is long."""
    text = one_line(error.text)
    if len(text) > BEGINNING + END:
        text = f"{text[:BEGINNING]} … {text[-END:]}"
    return label_cell(error.gold), label_cell(error.predicted), Text(text)
