"""An explained sentence on the terminal: marginals, n-best taggings, weights of spans, and transitions."""

from __future__ import annotations

from collections.abc import Iterator
from math import isfinite

from rich.table import Table
from rich.text import Text

from gonie.messages import say
from gonie.reports.explanation import SpanExplanation, TagExplanation, Transitions
from gonie.reports.explanations.alternatives import differing, likeliest
from gonie.reports.explanations.asked import asked_answer, named_words
from gonie.reports.explanations.heat import Rows
from gonie.reports.explanations.heat_text import coloured, side
from gonie.reports.explanations.screen import ExplanationScreen, grid_of
from gonie.reports.explanations.transition_table import END, NEVER, START, greatest, lines
from gonie.reports.terminal import safe

TOP = 3
"""Number of tags shown per token."""
CELL = 7
"""Width of a cell of the transition table, in terminal columns."""
MOVES = 12
"""Number of transitions listed if the table is too wide."""


def show_tags(screen: ExplanationScreen, each: TagExplanation, rows: Rows) -> None:
    """Show one tagged sentence: the spans that are asked about, its tokens, n-best taggings and spans."""
    screen.print(Text(""))
    for span in each.asked:
        _show_asked(screen, each, span, rows)
    screen.print(_marginals(each))
    if len(each.candidates) > 1:
        screen.print(_candidates(each))
    for span in each.spans:
        if span.weights:
            screen.print(_span(each, span))
        for weights in span.weights:
            screen.strip(rows, weights)


def _show_asked(screen: ExplanationScreen, each: TagExplanation, span: SpanExplanation, rows: Rows) -> None:
    """Show what the model prefers to a span, the words that speak against it, and all weights."""
    assert span.asked is not None
    answer = asked_answer(_text(each, span), span.label, span.probability, span.asked)
    screen.print(Text(safe(answer), "bold"))
    for weights in span.weights:
        for told in named_words(each.sentence.words, weights):
            screen.print(Text(safe(told)))
    for note in span.asked.notes:
        screen.print(Text(safe(note), "dim"))
    for weights in span.weights:
        screen.strip(rows, weights)
    screen.print(Text(""))


def show_moves(screen: ExplanationScreen, transitions: Transitions) -> None:
    """Show the learned transitions: the whole table if it fits, otherwise the strongest ones."""
    screen.print(Text(""))
    wide = max(map(len, transitions.labels), default=0) + (len(transitions.labels) + 1) * CELL
    narrow = wide > screen.width or any(len(label) >= CELL for label in transitions.labels)
    screen.print(_strongest(transitions) if narrow else _table(transitions, colours=screen.colours))
    if narrow:
        screen.print(Text("the strongest transitions; the HTML page (--html) has all of them", "dim"))


def _marginals(each: TagExplanation) -> Table:
    grid = grid_of(("token", "tag", "p", *(f"{rank}." for rank in range(2, TOP + 1))))
    for word, tag, chances in zip(each.sentence.words, each.tags, each.marginals, strict=True):
        others = [item for item in likeliest(chances) if item[0] != tag][: TOP - 1]
        alternatives = [f"{safe(name)} {chance:.3f}" for name, chance in others]
        style = "" if tag == "O" else "bold green"
        given = (Text(safe(tag), style), f"{chances.get(tag, 0.0):.3f}")
        grid.add_row(Text(safe(word)), *given, *map(Text, alternatives))
    return grid


def _candidates(each: TagExplanation) -> Table:
    best = each.candidates[0]
    grid = Table(box=None, pad_edge=False, header_style="dim")
    for name in ("", "p(tagging)", "tags that differ from the first"):
        grid.add_column(name, overflow="fold")
    for rank, other in enumerate(each.candidates, start=1):
        found = differing(each.sentence.words, best, other)
        alternatives = ", ".join(f"{word}: {one} → {two}" for word, one, two in found) or "–"
        grid.add_row(f"{rank}.", f"{other.probability:.4f}", Text(safe(alternatives)))
    return grid


def _span(each: TagExplanation, span: SpanExplanation) -> Text:
    words = _text(each, span)
    return Text.assemble((safe(words), "bold green"), f" {safe(span.label)} {span.probability:.3f}")


def _text(each: TagExplanation, span: SpanExplanation) -> str:
    """Return the text of a span."""
    places = each.sentence.offsets()
    return each.sentence.surface[places[span.start][0] : places[span.end - 1][1]]


def _table(transitions: Transitions, *, colours: bool) -> Table:
    shown = list(lines(transitions))
    most = greatest(shown)
    grid = grid_of(("from ↓ to →", *(Text(safe(label)) for label in transitions.labels), END))
    for at, (label, scores) in enumerate(shown):
        grid.add_row(
            Text(safe(label) if at else say(START)),
            *(_cell(score, most, colours=colours) for score in scores),
        )
    return grid


def _cell(score: float, most: float, *, colours: bool) -> Text:
    if not isfinite(score):
        return Text(NEVER, "dim")
    style = coloured(abs(score) / most, side(score)) if colours and score else ""
    return Text(f"{score:+.2f}", style)


def _strongest(transitions: Transitions) -> Table:
    found = sorted(_moves(transitions), key=lambda move: -abs(move[2]))[:MOVES]
    grid = grid_of(("from", "to", "score"))
    for one, other, score in found:
        grid.add_row(Text(safe(one)), Text(safe(other)), f"{score:+.2f}")
    return grid


def _moves(transitions: Transitions) -> Iterator[tuple[str, str, float]]:
    ends = (*transitions.labels, say(END))
    for at, (label, scores) in enumerate(lines(transitions)):
        for other, score in zip(ends, scores, strict=False):
            if isfinite(score):
                yield label if at else say(START), other, score
