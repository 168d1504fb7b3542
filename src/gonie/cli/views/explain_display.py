"""Explanations on the terminal: how far to trust them first, then each text or sentence as it comes."""

from __future__ import annotations

import errno
import os
from collections.abc import Iterator, Mapping, Sequence
from math import isfinite
from pathlib import Path

from rich.console import Console, RenderableType
from rich.table import Table
from rich.text import Text

from gonie.cli.views.heat_text import coloured, heat_text, key_text, side
from gonie.reports.explanation import (
    Faithfulness,
    LayerShares,
    SpanExplanation,
    TagExplanation,
    TextExplanation,
    TokenWeights,
    Transitions,
)
from gonie.reports.explanations import layer_shares
from gonie.reports.explanations.alternatives import agreement, answer, differing, likeliest
from gonie.reports.explanations.heat import Rows, about
from gonie.reports.explanations.layout import lay_out, lay_out_sentence
from gonie.reports.explanations.transition_table import END, NEVER, greatest, lines
from gonie.reports.explanations.verdict import DIGITS, is_control, measured_on, standing, verdict
from gonie.reports.terminal import one_line, safe

MOST_LABELS, TOP, BAR = 8, 3, 30
"""How many labels of a text and tags of a token are shown, and how long the bar of a certain label is."""
PIPED_WIDTH = 160  # where there is no terminal, a table keeps its columns
CELL = 7  # columns of the terminal that a number of the transition table takes
MOVES = 12  # how many moves are listed where the table is too wide


class Screen(Console):
    """A console that says when nobody reads any more; Rich's own would end the program there and then."""

    def on_broken_pipe(self) -> None:
        """Rich has caught the error, and calls this."""
        raise BrokenPipeError(errno.EPIPE, os.strerror(errno.EPIPE))


class ExplanationDisplay:
    """Shows explanations on a console, in colours or, where there are none, by numbers."""

    def __init__(self, console: Console | None = None) -> None:
        self._console = console or Screen(highlight=False)
        if console is None and not self._console.is_terminal:
            self._console.width = PIPED_WIDTH
        self._colours = self._console.color_system is not None and not self._console.no_color

    def begin(
        self, warning: str, faithfulness: Sequence[Faithfulness], *, noun: str, notes: Sequence[str] = ()
    ) -> None:
        """What to know before reading: the warning, the figures and the sentence on them."""
        self._print(Text(warning, "yellow"))
        if faithfulness:
            self._print(_figures(faithfulness, noun))
        self._print(Text(verdict(faithfulness, noun=noun), "bold"))
        for note in notes:
            self._print(Text(safe(note), "dim"))
        if self._colours:
            self._print(key_text())

    def text(self, each: TextExplanation) -> None:
        """One classified text."""
        self._print(Text(""))
        self._print(_answer(each))
        self._print(_bars(each.probabilities))
        rows = lay_out(each.text, each.passage.sentences)
        for weights in each.weights:
            self._strip(rows, weights)

    def tags(self, each: TagExplanation) -> None:
        """One tagged sentence: its tokens, its likeliest taggings, and what each span rests on."""
        self._print(Text(""))
        self._print(_marginals(each))
        if len(each.candidates) > 1:
            self._print(_candidates(each))
        rows = [lay_out_sentence(each.sentence)]
        for span in each.spans:
            if span.weights:
                self._print(_span(each, span))
            for weights in span.weights:
                self._strip(rows, weights)

    def moves(self, transitions: Transitions) -> None:
        """What the chain has learned: the whole table if it fits, else the strongest moves."""
        self._print(Text(""))
        wide = max(map(len, transitions.labels), default=0) + (len(transitions.labels) + 1) * CELL
        narrow = wide > self._console.width or any(len(label) >= CELL for label in transitions.labels)
        self._print(_strongest(transitions) if narrow else self._table(transitions))
        if narrow:
            self._print(Text("the strongest moves; the page (--html) has them all", "dim"))

    def layers(self, found: Sequence[LayerShares]) -> None:
        """How the layers of the language model are mixed, at each place where they are used."""
        self._print(Text(""))
        for each in found:
            self._print(Text(safe(layer_shares.heading(each)), "bold"))
            self._print(_shares(each))
        self._print(Text(layer_shares.reading(found), "dim"))

    def wrote(self, page: Path) -> None:
        """Where the page is."""
        self._print(Text(f"page: {safe(str(page))}", "dim"))

    def _strip(self, rows: Rows, weights: TokenWeights) -> None:
        self._print(Text.assemble((weights.method, "bold"), (f", {one_line(about(weights))}", "dim")))
        self._print(heat_text(rows, weights, colours=self._colours))

    def _table(self, transitions: Transitions) -> Table:
        shown = list(lines(transitions))
        most = greatest(shown)
        grid = _grid(("from ↓ to →", *map(safe, transitions.labels), END))
        for label, scores in shown:
            grid.add_row(Text(safe(label)), *(self._cell(score, most) for score in scores))
        return grid

    def _cell(self, score: float, most: float) -> Text:
        if not isfinite(score):
            return Text(NEVER, "dim")
        style = coloured(abs(score) / most, side(score)) if self._colours and score else ""
        return Text(f"{score:+.2f}", style)

    def _print(self, shown: RenderableType) -> None:
        """Lines are broken for a person's terminal, and left whole for a file."""
        self._console.print(shown, soft_wrap=not self._console.is_terminal and isinstance(shown, Text))


def _figures(found: Sequence[Faithfulness], noun: str) -> Table:
    controls = [each for each in found if is_control(each)]
    grid = _grid(("faithfulness", "comprehensiveness ↑", "sufficiency ↓", ""))
    for each in (*(each for each in found if not is_control(each)), *controls):
        numbers = (f"{number:z.{DIGITS}f}" for number in (each.comprehensiveness, each.sufficiency))
        style = "dim" if is_control(each) else ""
        grid.add_row(each.method, *numbers, standing(each, controls), style=style)
    grid.caption = f"over {measured_on(found, noun)}"
    grid.caption_justify = "left"
    return grid


def _answer(each: TextExplanation) -> Text:
    labels = [Text.assemble((one_line(label), "bold green"), told) for label, told in answer(each)]
    line = Text(", ").join(labels)
    if each.gold:
        line.append(f"  {one_line(agreement(each))}")
    if each.passage.path:
        line.append(f"  {safe(each.passage.path)}:{each.passage.line}", style="dim")
    return line


def _bars(probabilities: Mapping[str, float]) -> Table:
    grid = Table(box=None, pad_edge=False, show_header=False)
    ordered = likeliest(probabilities)
    for label, chance in ordered[:MOST_LABELS]:
        grid.add_row(Text(one_line(label)), f"{chance:.4f}", Text("█" * round(BAR * chance), "blue"))
    left = len(ordered) - MOST_LABELS
    if left > 0:
        grid.add_row(Text(f"{left:,} more", "dim"))
    return grid


def _shares(each: LayerShares) -> Table:
    grid = Table(box=None, pad_edge=False, show_header=False)
    for name, share in layer_shares.lines(each):
        grid.add_row(name, f"{share:.4f}", Text("█" * round(BAR * share), "blue"))
    return grid


def _marginals(each: TagExplanation) -> Table:
    grid = _grid(("token", "tag", "p", *(f"{rank}." for rank in range(2, TOP + 1))))
    for word, tag, chances in zip(each.sentence.words, each.tags, each.marginals, strict=True):
        others = [item for item in likeliest(chances) if item[0] != tag][: TOP - 1]
        told = [f"{safe(name)} {chance:.3f}" for name, chance in others]
        style = "" if tag == "O" else "bold green"
        given = (Text(safe(tag), style), f"{chances.get(tag, 0.0):.3f}")
        grid.add_row(Text(safe(word)), *given, *map(Text, told))
    return grid


def _candidates(each: TagExplanation) -> Table:
    best = each.candidates[0]
    grid = Table(box=None, pad_edge=False, header_style="dim")
    for name in ("", "tagging's p", "tags that differ from the first"):
        grid.add_column(name, overflow="fold")
    for rank, other in enumerate(each.candidates, start=1):
        found = differing(each.sentence.words, best, other)
        told = ", ".join(f"{word}: {one} → {two}" for word, one, two in found) or "–"
        grid.add_row(f"{rank}.", f"{other.probability:.4f}", Text(safe(told)))
    return grid


def _span(each: TagExplanation, span: SpanExplanation) -> Text:
    places = each.sentence.offsets()
    words = each.sentence.surface[places[span.start][0] : places[span.end - 1][1]]
    return Text.assemble((safe(words), "bold green"), f" {safe(span.label)} {span.probability:.3f}")


def _strongest(transitions: Transitions) -> Table:
    found = sorted(_moves(transitions), key=lambda move: -abs(move[2]))[:MOVES]
    grid = _grid(("from", "to", "score"))
    for one, other, score in found:
        grid.add_row(Text(safe(one)), Text(safe(other)), f"{score:+.2f}")
    return grid


def _moves(transitions: Transitions) -> Iterator[tuple[str, str, float]]:
    for label, scores in lines(transitions):
        for other, score in zip((*transitions.labels, END), scores, strict=False):
            if isfinite(score):
                yield label, other, score


def _grid(columns: Sequence[str]) -> Table:
    grid = Table(box=None, pad_edge=False, header_style="dim")
    for at, name in enumerate(columns):
        grid.add_column(name, justify="right" if at else "left", overflow="fold")
    return grid
