"""Tables of the scores of groups, of files and under noise on the terminal."""

from __future__ import annotations

from collections.abc import Mapping

from rich.console import Console
from rich.text import Text

from gonie.messages import say
from gonie.metrics.domain_scores import DomainScores
from gonie.metrics.grouped import GroupScore
from gonie.metrics.robustness import NoiseCurve
from gonie.reports.group_cells import (
    FEW,
    FEW_NOTE,
    KINDS,
    SEEN_NOTE,
    SEPARATION_NOTE,
    Separations,
    domain_name,
    domain_words,
    gap_cells,
    group_cells,
    group_columns,
    has_novelty,
    noise_cells,
    noise_columns,
    noise_notes,
    separation_columns,
    separation_rows,
)
from gonie.reports.score_grid import score_grid
from gonie.reports.terminal import one_line


def print_groups(console: Console, column: str, groups: Mapping[str, GroupScore]) -> None:
    """Print the scores of each value of a column."""
    novelty = has_novelty(groups.values())
    grid = score_grid(("", *group_columns(groups.values())))
    grid.columns[0].header = Text(one_line(column))
    for value, score in groups.items():
        grid.add_row(Text(one_line(value)), *group_cells(score, novelty=novelty))
    console.print(grid)
    _print_notes(console, groups)


def print_domains(console: Console, found: DomainScores, *, split: str = "") -> None:
    """Print the scores of files, or of the domains of a split, with their gaps to the reference."""
    scores = [*found.scores.values()]
    novelty, words = has_novelty(scores), domain_words(found, split)
    grid = score_grid((words.column, *group_columns(scores), "gap"))
    for name, score in found.scores.items():
        cells = group_cells(score, novelty=novelty)
        difference, _ = gap_cells(found.gaps.get(name))
        grid.add_row(Text(one_line(domain_name(found, name))), *cells, difference)
    if found.overall is not None and (len(scores) > 1 or found.outside):
        grid.add_section()
        grid.add_row(words.overall, *group_cells(found.overall, novelty=novelty), "", style="bold")
    console.print(grid)
    _print_notes(console, found.scores)


def print_separation(console: Console, separation: Separations) -> None:
    """Print how well uncertainty tells the texts of each file from those of the first one."""
    if not any(separation.values()):
        return
    grid = score_grid(("file", *separation_columns()))
    for name, cells in separation_rows(separation):
        grid.add_row(Text(one_line(name)), *cells)
    console.print(grid)
    console.print(Text(SEPARATION_NOTE, style="dim"))


def print_noise(console: Console, curve: NoiseCurve) -> None:
    """Print the score at each level of noise."""
    grid = score_grid(noise_columns(curve))
    for score in curve.scores:
        grid.add_row(say(KINDS[score.kind]), *noise_cells(score))
    console.print(grid)
    for note in noise_notes(curve):
        console.print(Text(note, style="dim"))


def _print_notes(console: Console, groups: Mapping[str, GroupScore]) -> None:
    if any(score.examples < FEW for score in groups.values()):
        console.print(Text(FEW_NOTE, style="dim"))
    if has_novelty(groups.values()):
        console.print(Text(SEEN_NOTE, style="dim"))
