"""What a chain has learned of sequences, as a coloured table: rows are from, columns are to.

A move that no sequence may make has a cross, not a colour. The scale is that of the greatest score, so moves
can be compared with each other; a score is a logarithm, +1 makes a sequence e times as likely.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import isfinite

from gonie.reports.explanation import Transitions
from gonie.reports.html.frame import note, section
from gonie.reports.html.markup import Markup, element, row, table

START, END = "(start)", "(end)"
NEVER = "✕"
MOST = 60
"""Of more tags than this the table would be thousands of cells; the first ones are shown, and it is said."""

Line = tuple[str, tuple[float, ...]]
"""The tag that moves begin at, and the score of each move from it."""


def transition_section(transitions: Transitions) -> Markup:
    """The table under its heading, with how it is read."""
    told = (
        f"From the row's tag to the column's; {START} and {END} are the ends of a sentence. Blue with + is a "
        f"move the model favours, orange with - one it avoids, {NEVER} one that no tag sequence may make."
    )
    left = len(transitions.labels) - MOST
    return section(
        "What the chain has learned",
        note(told),
        _table(transitions),
        note(f"{left:,} more tags are not shown.") if left > 0 else None,
    )


def has_learned(transitions: Transitions) -> bool:
    """Is there anything to show? A model without a chain chooses each tag alone, and scores no move."""
    scores = (score for _, row in lines(transitions, len(transitions.labels)) for score in row)
    return any(score and isfinite(score) for score in scores)


def lines(transitions: Transitions, most: int = MOST) -> Iterator[Line]:
    """The rows of the table: the start, which cannot end at once, then each tag with its end."""
    yield START, (*transitions.start[:most], float("-inf"))
    for label, scores, end in list(zip(transitions.labels, transitions.scores, transitions.end, strict=True))[
        :most
    ]:
        yield label, (*scores[:most], end)


def greatest(shown: Sequence[Line]) -> float:
    """The size of the greatest score, by which colours are scaled."""
    return max((abs(score) for _, scores in shown for score in scores if isfinite(score)), default=0.0) or 1.0


def _table(transitions: Transitions) -> Markup:
    shown = list(lines(transitions))
    most = greatest(shown)
    rows = [row(label, *(_cell(score, most) for score in scores)) for label, scores in shown]
    header = ("from ↓ to →", *transitions.labels[:MOST], END)
    return table(caption="Scores of moves", header=header, rows=rows, class_="moves")


def _cell(score: float, most: float) -> Markup:
    if not isfinite(score):
        return element("td", NEVER, class_="never", aria_label="never")
    kind = "against" if score < 0 else None
    return element("td", f"{score:+.2f}", style=f"--a:{abs(score) / most:.2f}", class_=kind)
