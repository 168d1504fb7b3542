"""The HTML report of a classifier: a tagger's report plus calibration, scores by length and whole texts.

The page frame is in ``gonie.reports.html``, the page header in ``report_page.py``, score tables in
``score_tables.py`` and calibration in ``calibration_section.py``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import PurePath
from typing import Any, Protocol

from gonie.messages import say
from gonie.metrics.calibration import Calibration
from gonie.metrics.class_errors import ClassError
from gonie.metrics.classes import ClassEvaluation
from gonie.metrics.lengths import LengthScore
from gonie.metrics.relations import RelationScores
from gonie.reports.calibration_section import calibration_section, error_text, risk_section
from gonie.reports.filtered_list import SCRIPT, ListItem, filtered_list
from gonie.reports.html.frame import chapters, note, page
from gonie.reports.html.markup import Markup, element, fragment, language, row, table
from gonie.reports.report_page import details_of, opening, percent, range_text
from gonie.reports.report_style import STYLE
from gonie.reports.score_tables import (
    CONFUSION_NOTE,
    average_row,
    confusion_table,
    label_scores,
    score_row,
    score_table,
)
from gonie.reports.svg import interval_bar, training_curve
from gonie.text.report import count

MOST_ERRORS, MOST_EXPLAINED = 500, 20
"""The number of errors on the page, and of those that are shown with the weights of their words."""
BEGINNING, END = 300, 100
"""How many characters of a long text are shown at each end."""

MEASURES = {
    "accuracy": "accuracy of {noun}",
    "f1": "F1 of labels, micro average",
    "relation_f1": "F1 of directed relations, macro average, as in SemEval-2010 task 8",
}


class ErrorExplainer(Protocol):
    """Renders the text of an error with word weights. ``style`` is the CSS that this needs."""

    style: str

    def __call__(self, error: Any) -> Markup | None:
        """Render the text of an error with the weight of each word, or return None if there are none."""


def render_classes(
    evaluation: ClassEvaluation,
    *,
    title: str,
    curve: Sequence[Mapping[str, object]] | None = None,
    details: Mapping[str, object] | None = None,
    explain: ErrorExplainer | None = None,
    noun: str = "texts",
    first: Mapping[str, Markup | None] | None = None,
) -> str:
    """Render the report as one HTML file. ``curve``, ``details`` and ``first`` are as for taggers.

    With ``explain``, the worst errors are shown with word weights. ``noun`` is what the model labels: texts
    or pairs.
    """
    errors = evaluation.errors()
    decided = "labels" if evaluation.multi_label else noun
    return page(
        title,
        _head(evaluation, title, noun),
        chapters(
            {
                **(first or {}),
                "Labels": label_scores(evaluation.scores, evaluation.intervals),
                "Relations": None if evaluation.relations is None else _relations(evaluation.relations),
                "Confusion": _confusion(evaluation),
                "Calibration": _calibration(evaluation, noun=decided),
                "Risk and coverage": None
                if evaluation.risk_coverage is None
                else risk_section(evaluation.risk_coverage, noun=decided),
                "By length": _lengths(evaluation.lengths, noun),
                "Errors": _errors(errors, explain),
                "Training": training_curve(curve or (), unit=noun.removesuffix("s")),
                "Details": details_of(details or {}),
            }
        ),
        style=STYLE + ("" if explain is None else explain.style),
        script=SCRIPT if errors else "",
    )


def _head(evaluation: ClassEvaluation, title: str, noun: str) -> Markup:
    name, value = evaluation.headline
    return opening(
        title,
        score=value,
        measure=MEASURES[name].format(noun=noun),
        interval=evaluation.interval(name),
        values=_facts(evaluation, noun),
        told=how_classes_scored(evaluation, noun),
        unknown=evaluation.unknown_labels,
    )


def _facts(evaluation: ClassEvaluation, noun: str) -> dict[str, str]:
    micro = evaluation.scores.micro
    values = {}
    if evaluation.headline[0] != "accuracy":
        values["accuracy"] = percent(evaluation.accuracy)
    if evaluation.multi_label:
        values |= {"precision": percent(micro.precision), "recall": percent(micro.recall)}
    values["macro F1"] = percent(evaluation.scores.macro.f1)
    if evaluation.auc is not None:
        values["ROC AUC"] = percent(evaluation.auc)
    if evaluation.calibration is not None:
        values["calibration error"] = error_text(evaluation.calibration.width)
    values[noun] = f"{evaluation.texts:,}"
    values["with errors"] = f"{evaluation.texts - evaluation.right:,}"
    return values


def how_classes_scored(evaluation: ClassEvaluation, noun: str = "texts") -> str:
    """Return one sentence on how the averages are computed. ``noun`` is what the model labels."""
    one = noun.removesuffix("s")
    if evaluation.multi_label:
        return (
            f"{noun.capitalize()} may have several labels. "
            f"For accuracy, a {one} is correct if all its labels match."
        )
    return f"One label per {one}: micro precision, recall and F1 equal accuracy."


def _relations(relations: RelationScores) -> Markup:
    scores = relations.relations
    rows = [
        *(score_row(name, counts, None) for name, counts in scores.by_frequency),
        average_row(say("all (macro)"), scores.macro, relations.interval),
    ]
    caption = "Scores of relations in percent. A relation is correct only with the right direction"
    return score_table(caption, rows)


def _confusion(evaluation: ClassEvaluation) -> Markup | None:
    if evaluation.confusion is None:
        return None
    return fragment(note(CONFUSION_NOTE), confusion_table(evaluation.confusion, boundaries=False))


def log_loss_text(calibration: Calibration, unknown: int) -> str:
    """Format the log loss, and say how many gold labels it leaves out: those that are ``unknown``."""
    loss = calibration.nll
    left_out = f" (without {count(unknown, 'label')} that the model does not have)" if unknown else ""
    return f"{'–' if loss is None else f'{loss:.4f}'}{left_out}"


def _calibration(evaluation: ClassEvaluation, *, noun: str) -> Markup | None:
    found = evaluation.calibration
    if found is None:
        return None
    scores = {
        "log loss": say(log_loss_text(found, evaluation.unknown)),
        "Brier score": f"{found.brier:.4f}",
    }
    return calibration_section(found, noun=noun, scores=scores)


def _lengths(lengths: Sequence[LengthScore], noun: str) -> Markup | None:
    if not lengths:
        return None
    header = ("tokens", noun, "F1", "95% interval", "0 – 100")
    rows = [
        row(
            f"{score.low:,}–{score.high:,}",
            f"{score.texts:,}",
            percent(score.counts.f1),
            range_text(score.interval),
            interval_bar(score.counts.f1, score.interval),
            names=header,
        )
        for score in lengths
    ]
    caption = f"F1 in percent by length (accuracy, if each {noun.removesuffix('s')} has one label)"
    return table(caption=caption, header=header, rows=rows, class_="stack")


def _errors(found: Sequence[ClassError], explain: ErrorExplainer | None) -> Markup:
    if not found:
        return element("p", say("None."))
    shown = found[:MOST_ERRORS]
    by_file = sorted(range(len(shown)), key=lambda at: (shown[at].file, shown[at].line))
    order = {at: place for place, at in enumerate(by_file)}
    legend = element(
        "p",
        say(_how_many(len(shown), len(found))),
        " ",
        _mark(say("gold"), "due"),
        " → ",
        _mark(say("predicted"), "given"),
        say(", and the probability of the prediction."),
        class_="note legend",
    )
    items = [
        _item(error, explain if at < MOST_EXPLAINED else None, order=order[at])
        for at, error in enumerate(shown)
    ]
    return fragment(legend, filtered_list(items))


def _how_many(shown: int, total: int) -> str:
    """Return how many errors are listed, and how many are left out."""
    if shown == total:
        return f"{count(total, 'error')}."
    return f"The {shown:,} most confident of {total:,} errors; {total - shown:,} are left out."


def _item(error: ClassError, explain: ErrorExplainer | None, *, order: int) -> ListItem:
    return ListItem(
        _error(error, explain),
        kinds=[str(error.kind)],
        labels=[label for label in (error.gold, error.predicted) if label is not None],
        confidence=error.confidence,
        order=order,
    )


def _error(error: ClassError, explain: ErrorExplainer | None) -> Markup:
    why = explain(error) if explain else None
    place = f"{PurePath(error.file).name}:{error.line}" if error.file else None
    chance = error.gold_probability
    told = [f"{error.confidence:.3f}", None if chance is None else say(f"gold {chance:.3f}"), place]
    return fragment(
        element(
            "p",
            _mark(say("none") if error.gold is None else error.gold, "due"),
            " → ",
            _mark(say("none") if error.predicted is None else error.predicted, "given"),
            " ",
            " · ".join(part for part in told if part),
            class_="place",
        ),
        why or element("p", element("bdi", shortened(error.text)), class_="text", lang=language(error.text)),
    )


def _mark(label: str, kind: str) -> Markup:
    return element("mark", element("bdi", label), class_=kind)


def shortened(text: str) -> str:
    """Return the beginning and the end of a long text. Reviews often state their verdict at the end."""
    if len(text) <= BEGINNING + END + 3:
        return text
    return f"{text[:BEGINNING]} … {text[-END:]}"
