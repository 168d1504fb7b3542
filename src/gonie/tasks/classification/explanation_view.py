"""An explained text on the terminal: its labels, and its words with the weights of each method."""

from __future__ import annotations

from collections.abc import Mapping

from rich.table import Table
from rich.text import Text

from gonie.messages import say
from gonie.reports.explanation import TextExplanation
from gonie.reports.explanations.alternatives import agreement, answer, likeliest
from gonie.reports.explanations.heat import Rows
from gonie.reports.explanations.screen import ExplanationScreen, bars
from gonie.reports.terminal import one_line, safe

MOST_LABELS = 8
"""Maximum number of labels shown per text."""


def show_text(screen: ExplanationScreen, each: TextExplanation, rows: Rows) -> None:
    """Show one classified text."""
    screen.print(Text(""))
    screen.print(_answer(each))
    if each.probabilities:
        screen.print(_labels(each.probabilities))
    for weights in each.weights:
        screen.strip(rows, weights)


def _answer(each: TextExplanation) -> Text:
    labels = [
        Text.assemble((one_line(label), "bold green"), probability) for label, probability in answer(each)
    ]
    line = Text(", ").join(labels)
    if each.gold:
        line.append(f"  {say(one_line(agreement(each)))}")
    if each.passage.path:
        line.append(f"  {safe(each.passage.path)}:{each.passage.line}", style="dim")
    return line


def _labels(probabilities: Mapping[str, float]) -> Table:
    ordered = likeliest(probabilities)
    grid = bars(ordered[:MOST_LABELS])
    left = len(ordered) - MOST_LABELS
    if left > 0:
        grid.add_row(Text(say(f"{left:,} more"), "dim"))
    return grid
