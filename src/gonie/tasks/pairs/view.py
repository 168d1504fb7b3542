"""Print predictions and scores of pair models."""

from __future__ import annotations

from rich.cells import cell_len
from rich.console import Console
from rich.text import Text

from gonie.messages import say
from gonie.reports.error_list import Cells, label_cell
from gonie.reports.report_page import percent, range_text
from gonie.reports.terminal import one_line
from gonie.tasks.pairs.answer import PairAnswer
from gonie.tasks.pairs.values import PairError, ValueEvaluation
from gonie.text.report import count


def pretty(found: PairAnswer) -> Text:
    """Show an answer on one line: ``entailment 0.982  A man plays. | A man makes music.``"""
    answer = _headline(found)
    return answer.append(f"  {one_line(found.text)} | {one_line(found.text_pair)}")


def all_scores(found: PairAnswer) -> Text:
    """Show every label with its probability, the most probable first, or the value."""
    if found.value is not None:
        return _headline(found)
    ranked = sorted(found.scores.items(), key=lambda item: -item[1])
    names = {label: one_line(label) for label in found.scores}
    width = max(map(cell_len, names.values()))  # a letter of Hangul takes two columns
    return Text("\n").join(
        Text.assemble(
            (names[label], "bold green" if label == found.label else ""),
            f"{' ' * (width - cell_len(names[label]))}  {score:.3f}",
        )
        for label, score in ranked
    )


def _headline(found: PairAnswer) -> Text:
    if found.value is not None:
        return Text(f"{found.value:.2f}", style="bold green")
    return Text.assemble((one_line(found.label or ""), "bold green"), (f" {found.score:.3f}", "dim"))


def print_values(console: Console, evaluation: ValueEvaluation) -> None:
    """Print the scores of a model of values."""
    line = Text.assemble((say("Pearson "), "bold"), (percent(evaluation.pearson), "bold green"))
    if evaluation.pearson_interval is not None:
        line.append(say(f"  95% interval {range_text(evaluation.pearson_interval)}"))
    line.append(say(f"  Spearman {percent(evaluation.spearman)}"))
    line.append(say(f"  mean absolute error {evaluation.mean_absolute_error:.3f}"))
    line.append(say(f"  root mean squared error {evaluation.root_mean_squared_error:.3f}"))
    console.print(line.append(f"  ({say(count(evaluation.pairs, 'pair'))})", style="dim"))


def error_cells(error: PairError) -> Cells:
    """Return the gold answer, the prediction and the two texts."""
    texts = f"{one_line(error.text)} | {one_line(error.text_pair)}"
    return label_cell(error.gold), label_cell(error.predicted), Text(texts)
