"""The transition scores of a CRF as a coloured table: rows are from, columns are to.

A forbidden transition is a cross without colour. Colours are scaled by the greatest score, so transitions can
be compared with each other. A score is a logarithm: +1 makes a sequence e times as likely.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import isfinite

from gonie.messages import say
from gonie.reports.explanation import Transitions
from gonie.reports.html.colors import heat_class
from gonie.reports.html.frame import note, section
from gonie.reports.html.markup import Markup, element, escape, row, table

START, END = "(start)", "(end)"
NEVER = "✕"
MOST = 60
"""The maximum number of tags in the table. The page says how many more there are."""

Line = tuple[str, tuple[float, ...]]
"""The tag that transitions start from, and the score of each transition."""


def transition_section(transitions: Transitions) -> Markup:
    """Render the table under its heading, with a note on how to read it."""
    told = (
        f"From the tag of the row to the tag of the column. {START} and {END} are the ends of a sentence. "
        f"The model favours transitions in blue (+) and avoids those in orange (-). {NEVER} is forbidden."
    )
    left = len(transitions.labels) - MOST
    return section(
        "Transition scores",
        note(told),
        _table(transitions),
        note(f"{left:,} more tags are not shown.") if left > 0 else None,
    )


def has_learned(transitions: Transitions) -> bool:
    """Return whether any transition score is nonzero. Models without a CRF choose each tag independently."""
    scores = (score for _, row in lines(transitions, len(transitions.labels)) for score in row)
    return any(score and isfinite(score) for score in scores)


def lines(transitions: Transitions, most: int = MOST) -> Iterator[Line]:
    """Yield the rows of the table: first the start, which has no transition to the end, then each tag."""
    yield START, (*transitions.start[:most], float("-inf"))
    for label, scores, end in list(zip(transitions.labels, transitions.scores, transitions.end, strict=True))[
        :most
    ]:
        yield label, (*scores[:most], end)


def greatest(shown: Sequence[Line]) -> float:
    """Return the greatest absolute score, by which colours are scaled."""
    return max((abs(score) for _, scores in shown for score in scores if isfinite(score)), default=0.0) or 1.0


def _table(transitions: Transitions) -> Markup:
    shown = list(lines(transitions))
    most = greatest(shown)
    names = (say(START), *(label for label, _ in shown[1:]))
    rows = [
        row(name, *(_cell(score, most) for score in scores))
        for name, (_, scores) in zip(names, shown, strict=True)
    ]
    header = ("from ↓ to →", *map(escape, transitions.labels[:MOST]), END)
    return table(caption="Scores of transitions", header=header, rows=rows, class_="moves sticky")


def _cell(score: float, most: float) -> Markup:
    if not isfinite(score):
        return element("td", NEVER, class_="never", aria_label=say("forbidden"))
    kinds = ["heat-cell", *(["against"] if score < 0 else []), heat_class(score / most)]
    return element("td", f"{score:+.2f}", class_=" ".join(kinds))
