"""Tables of the scores of groups, of files and under noise on the terminal."""

from __future__ import annotations

from collections.abc import Mapping

from rich.console import Console
from rich.text import Text

from gonie.messages import say
from gonie.metrics.grouped import GroupScore, gap
from gonie.metrics.robustness import NoiseCurve
from gonie.reports.group_cells import (
    FEW,
    FEW_NOTE,
    KINDS,
    SEEN_NOTE,
    SEPARATION_NOTE,
    Separations,
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


def print_domains(console: Console, domains: Mapping[str, GroupScore], pooled: GroupScore) -> None:
    """Print the scores of each file, their gaps to the first one, and the score on all of them."""
    novelty = has_novelty([*domains.values(), pooled])
    first = next(iter(domains.values()))
    grid = score_grid(("file", *group_columns([pooled]), "gap"))
    for name, score in domains.items():
        difference = None if score is first else gap(score, first)
        grid.add_row(Text(one_line(name)), *group_cells(score, novelty=novelty), gap_cells(difference)[0])
    if len(domains) > 1:
        grid.add_section()
        grid.add_row(say("all files"), *group_cells(pooled, novelty=novelty), "", style="bold")
    console.print(grid)
    _print_notes(console, domains)


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
