"""The evaluation of a tagger on the terminal: scores, types, recall by novelty, errors."""

from __future__ import annotations

from rich.console import Console
from rich.table import Table
from rich.text import Text

from gonie.messages import say
from gonie.metrics.calibration import Calibration
from gonie.metrics.errors import Error
from gonie.metrics.evaluation import Evaluation
from gonie.reports.calibration_line import calibration_line
from gonie.reports.error_list import Cells, label_cell
from gonie.reports.report_page import percent, range_text
from gonie.reports.score_grid import print_labels, print_unknown, score_grid
from gonie.reports.tag_report import how_scored, novelty_names, unreachable_spans
from gonie.reports.terminal import safe
from gonie.text.report import count

NEAR = 24
"""Characters shown on each side of an error."""


def print_evaluation(console: Console, evaluation: Evaluation) -> None:
    """Print scores in percent, as conlleval does. Labels are not interpreted as markup."""
    console.print(_headline(evaluation))
    name = "label" if evaluation.plain else "type"
    print_labels(console, name, evaluation.spans, evaluation.intervals)
    if evaluation.novelty is not None:
        console.print(_novelty(evaluation))
    if evaluation.calibration is not None:
        console.print(_calibration(evaluation.calibration))
    print_unknown(console, evaluation.unknown_labels)
    if missed := unreachable_spans(evaluation):
        console.print(Text(missed, style="yellow"))
    console.print(Text(how_scored(evaluation), style="dim"))


def _headline(evaluation: Evaluation) -> Text:
    name, value = evaluation.headline
    line = Text.assemble(
        (say("Accuracy ") if name == "accuracy" else "F1 ", "bold"), (percent(value), "bold green")
    )
    if evaluation.intervals is not None:
        line.append(say(f"  95% interval {range_text(evaluation.interval(name))}"))
    if not evaluation.plain:
        micro = evaluation.spans.micro
        line.append(say(f"  precision {percent(micro.precision)}  recall {percent(micro.recall)}"))
        line.append(say(f"  token accuracy {percent(evaluation.tokens.accuracy)}"))
    size = f"{count(evaluation.sentences, 'sentence')}, {count(evaluation.tokens.tokens, 'token')}"
    return line.append(f"  ({say(size)})", style="dim")


def _calibration(calibration: Calibration) -> Text:
    line = calibration_line(calibration)
    return line.append(f"  ({say(count(calibration.decisions, 'predicted span'))})", style="dim")


def _novelty(evaluation: Evaluation) -> Table:
    names = novelty_names(evaluation)
    grid = score_grid(("word" if evaluation.plain else "mention", "gold", "found", "recall", "95% interval"))
    for kind, found in (evaluation.novelty or {}).items():
        interval = range_text(evaluation.novelty_interval(kind))
        shown = (percent(found.recall), interval) if found.gold else ("–", "")
        grid.add_row(say(names[kind]), f"{found.gold:,}", f"{found.correct:,}", *shown)
    return grid


def span_cells(error: Error) -> Cells:
    """Return the labels of a span, with the text of each if the spans differ, and its context."""
    one, other = error.gold, error.predicted
    if error.gold_text != error.predicted_text and one is not None and other is not None:
        one, other = f"{one}: {error.gold_text}", f"{other}: {error.predicted_text}"
    return label_cell(one), label_cell(other), _context(error)


def _context(error: Error) -> Text:
    before, after = safe(error.before), safe(error.after)
    return Text.assemble(
        ("…" if len(before) > NEAR else "") + before[-NEAR:],
        ("[", "dim"),
        (safe(error.text), "bold red"),
        ("]", "dim"),
        after[:NEAR] + ("…" if len(after) > NEAR else ""),
    )
