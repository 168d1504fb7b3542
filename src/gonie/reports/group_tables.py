"""Tables of the scores of groups, of files and under noise on HTML pages, and the curves of noise."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from gonie.messages import say
from gonie.metrics.classes import ClassEvaluation
from gonie.metrics.domain_scores import DomainScores
from gonie.metrics.evaluation import Evaluation
from gonie.metrics.grouped import GroupScore
from gonie.metrics.robustness import NoiseCurve, NoiseScore
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
    measure_name,
    noise_cells,
    noise_columns,
    noise_notes,
    separation_columns,
    separation_rows,
)
from gonie.reports.html.frame import folded, note
from gonie.reports.html.markup import Markup, element, escape, fragment, row, table
from gonie.reports.score_tables import label_scores
from gonie.reports.svg import (
    BOTTOM,
    GAP,
    PANEL,
    RIGHT,
    TOP,
    WIDTH,
    Scale,
    across_line,
    interval_bar,
    left_margin,
    tick_labels,
    ticks,
)
from gonie.text.noise_levels import NONE, SPACES, TYPOS

CURVES = (TYPOS, SPACES)
"""The kinds of noise of several rates."""


def groups_part(groups: Mapping[str, Mapping[str, GroupScore]]) -> Markup:
    """Render a table of the scores of each value, for each column."""
    return fragment(*(_groups_table(column, own) for column, own in groups.items()))


def _groups_table(column: str, groups: Mapping[str, GroupScore]) -> Markup:
    novelty = has_novelty(groups.values())
    columns = group_columns(groups.values())
    rows = [
        row(value, *group_cells(score, novelty=novelty), _bar(score), names=("", *columns, "0 – 100"))
        for value, score in groups.items()
    ]
    header = (escape(column), *columns, "0 – 100")
    return fragment(
        table(caption="Scores in percent, by value", header=header, rows=rows, class_="stack"),
        *_notes(groups),
    )


def domains_part(found: DomainScores, evaluations: Mapping[str, object], *, split: str = "") -> Markup:
    """Render a table of the scores of each file, or of each domain of a split, and the labels of each."""
    scores = [*found.scores.values()]
    novelty, words = has_novelty(scores), domain_words(found, split)
    header = (words.column, *group_columns(scores), "gap", "95% interval", "0 – 100")
    rows = [
        row(
            domain_name(found, name),
            *group_cells(score, novelty=novelty),
            *gap_cells(found.gaps.get(name)),
            _bar(score),
            names=header,
        )
        for name, score in found.scores.items()
    ]
    if found.overall is not None:
        cells = [*group_cells(found.overall, novelty=novelty), *gap_cells(None), _bar(found.overall)]
        rows.append(row(words.overall, *cells, names=header, class_="total"))
    together = len(scores) > 1 and not split
    return fragment(
        table(caption=words.caption, header=header, rows=rows, class_="stack"),
        *_notes(found.scores),
        *(_labels(name, evaluation) for name, evaluation in evaluations.items()),
        note("The other parts of this page are about all files together.") if together else None,
    )


def separation_part(separation: Separations) -> Markup | None:
    """Render how well uncertainty tells the texts of each file from those of the first one, if known."""
    if not any(separation.values()):
        return None
    header = ("file", *separation_columns())
    rows = [row(name, *cells, names=header) for name, cells in separation_rows(separation)]
    caption = "Area under the ROC curve, in percent"
    return fragment(table(caption=caption, header=header, rows=rows, class_="stack"), note(SEPARATION_NOTE))


def _labels(name: str, evaluation: object) -> Markup | None:
    """Render the scores of each label of a file, collapsed. Values have no labels."""
    if isinstance(evaluation, Evaluation):
        return folded(escape(name), label_scores(evaluation.spans, evaluation.intervals))
    if isinstance(evaluation, ClassEvaluation):
        return folded(escape(name), label_scores(evaluation.scores, evaluation.intervals))
    return None


def _bar(score: GroupScore) -> Markup | str:
    if score.lacks_mentions:
        return ""
    return interval_bar(min(1.0, max(0.0, score.score)), score.interval)


def _notes(groups: Mapping[str, GroupScore]) -> list[Markup]:
    few = [note(FEW_NOTE)] if any(score.examples < FEW for score in groups.values()) else []
    return [*few, note(SEEN_NOTE)] if has_novelty(groups.values()) else few


def noise_part(curve: NoiseCurve) -> Markup:
    """Render curves of the score by the share of words or spaces with noise, and a table of all levels."""
    header = noise_columns(curve)
    rows = [row(say(KINDS[score.kind]), *noise_cells(score), names=header) for score in curve.scores]
    drawn = [_points(curve, kind) for kind in CURVES]
    lowest = min((low for own in drawn for score in own for low in score.spread), default=0.0)
    highest = max((high for own in drawn for score in own for high in score.spread), default=1.0)
    marks = ticks(100 * lowest, 100 * highest)
    panels = [
        _panel(own, KINDS[kind], measure_name(curve.measure), marks)
        for kind, own in zip(CURVES, drawn, strict=True)
        if len(own) > 1
    ]
    return fragment(
        element("div", *panels, class_="curves") if panels else None,
        table(caption="Scores under noise, in percent", header=header, rows=rows, class_="stack"),
        *map(note, noise_notes(curve)),
    )


def _points(curve: NoiseCurve, kind: str) -> list[NoiseScore]:
    """Return the scores of a kind of noise, from none of it."""
    own = curve.of_kind(kind)
    return own if not own or not own[0].rate else [*curve.of_kind(NONE), *own]


def _panel(scores: Sequence[NoiseScore], name: str, measure: str, marks: Sequence[float]) -> Markup:
    """Draw the score (upwards) by the share of words or spaces with noise, with the range of the draws."""
    labels = tick_labels(marks)
    left, right = left_margin(labels), WIDTH - RIGHT
    across = Scale(0, max(score.rate for score in scores), left, right)
    up = Scale(marks[0], marks[-1], PANEL - BOTTOM, TOP)
    points = [(across(score.rate), up(100 * score.score)) for score in scores]
    title = f"{measure}: {say(name)}"
    told = ", ".join(f"{score.rate:.0%}: {100 * score.score:.2f}" for score in scores)
    return element(
        "svg",
        element("title", f"{title}. {told}"),
        element("text", title, x=0, y=14, class_="name"),
        *(
            across_line(up(mark), label, left=left, right=right)
            for mark, label in zip(marks, labels, strict=True)
        ),
        *(
            element("text", f"{score.rate:.0%}", x=across(score.rate), y=PANEL - 4, text_anchor="middle")
            for score in _apart(scores, across)
        ),
        *(
            element(
                "line",
                x1=across(score.rate),
                x2=across(score.rate),
                y1=up(100 * score.spread[0]),
                y2=up(100 * score.spread[1]),
                class_="whisker",
            )
            for score in scores
            if len(score.scores) > 1
        ),
        element("polyline", points=" ".join(f"{x},{y}" for x, y in points), class_="line score"),
        *(element("circle", cx=x, cy=y, r=2.5, class_="dot score") for x, y in points),
        viewBox=f"0 0 {WIDTH} {PANEL}",
        role="img",
    )


def _apart(scores: Sequence[NoiseScore], across: Scale) -> list[NoiseScore]:
    """Return the scores whose labels on the axis do not touch."""
    shown: list[NoiseScore] = []
    for score in scores:
        if not shown or across(score.rate) - across(shown[-1].rate) >= 4 * GAP:
            shown.append(score)
    return shown
