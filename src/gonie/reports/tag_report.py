"""The HTML report of a tagger, as one self-contained file.

The page frame is in ``gonie.reports.html``, the page header in ``report_page.py``, score tables in
``score_tables.py``, calibration in ``calibration_section.py``, drawings in ``svg.py`` and marked sentences in
``error_passages.py``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from gonie.messages import say
from gonie.metrics.evaluation import Evaluation
from gonie.metrics.intervals import Interval
from gonie.metrics.labels import Boundaries
from gonie.metrics.mistakes import Mistake
from gonie.metrics.novelty import Novelty, Recall
from gonie.reports.calibration_section import calibration_section, error_text, risk_section
from gonie.reports.error_passages import kinds_of, legend, passage, wrong_labels
from gonie.reports.filtered_list import SCRIPT, ListItem, filtered_list
from gonie.reports.html.colors import label_classes
from gonie.reports.html.frame import chapters, folded, note, page
from gonie.reports.html.markup import Markup, element, fragment, row, table
from gonie.reports.report_page import details_of, opening, percent, range_text
from gonie.reports.report_style import STYLE
from gonie.reports.score_tables import CONFUSION_NOTE, MOST_LABELS, confusion_table, label_scores
from gonie.reports.svg import interval_bar, training_curve
from gonie.text.report import count

MOST_PASSAGES = 500
"""The number of incorrect sentences on the page. It says how many are left out."""

BOUNDARY_NOTE = (
    "Types are compared for spans with the same boundaries on both sides. A span with a wrong boundary "
    "overlaps a span of the other side. Missed and spurious spans overlap none."
)

MENTIONS = {
    Novelty.SEEN: "seen in training with this type",
    Novelty.SEEN_OTHER_TYPE: "seen with another type only",
    Novelty.PARTLY_SEEN: "partly seen: shares a content word",
    Novelty.UNSEEN: "unseen",
}
WORDS = {
    Novelty.SEEN: "seen in training with this label",
    Novelty.SEEN_OTHER_TYPE: "seen with another label only",
    Novelty.PARTLY_SEEN: "seen in another casing only",
    Novelty.UNSEEN: "unseen",
}
"""The names of the novelty classes, for mentions and for the words of plain tags."""


def render(
    evaluation: Evaluation,
    *,
    title: str,
    curve: Sequence[Mapping[str, object]] | None = None,
    details: Mapping[str, object] | None = None,
    first: Mapping[str, Markup | None] | None = None,
) -> str:
    """Render the report as one HTML file.

    ``curve`` holds the records of metrics.jsonl (``epoch``, ``score``, ``loss``, ``rate``, ``seconds``).
    ``details`` come last under their names: a mapping as a table, multi-line text (the recipe) collapsed,
    anything else as a line. ``first`` are parts of the page before all others.
    """
    colors = None if evaluation.plain else label_classes(evaluation.spans.types)
    return page(
        title,
        _head(evaluation, title),
        chapters(
            {
                **(first or {}),
                "Labels" if evaluation.plain else "Types": label_scores(
                    evaluation.spans, evaluation.intervals, colors
                ),
                "Seen in training?": _novelty(evaluation),
                "Confusion": _confusion(evaluation),
                "Calibration": _calibration(evaluation),
                "Risk and coverage": _risk(evaluation),
                "Errors": _errors(evaluation, colors),
                "Tags": _tags(evaluation),
                "Training": training_curve(curve or ()),
                "Details": details_of(details or {}),
            }
        ),
        style=STYLE,
        script=SCRIPT if evaluation.mistakes else "",
    )


def novelty_names(evaluation: Evaluation) -> Mapping[Novelty, str]:
    """Return the names of the novelty classes in this evaluation."""
    return WORDS if evaluation.plain else MENTIONS


def _head(evaluation: Evaluation, title: str) -> Markup:
    name, value = evaluation.headline
    return opening(
        title,
        score=value,
        measure=_measure(evaluation),
        interval=evaluation.interval(name),
        values=_facts(evaluation),
        told=how_scored(evaluation),
        unknown=evaluation.unknown_labels,
        missed=unreachable_spans(evaluation),
    )


def _measure(evaluation: Evaluation) -> str:
    if evaluation.plain:
        return "accuracy of tokens"
    what = "tokens that are not O" if evaluation.mode == "token" else "spans"
    return f"F1 of {what}, micro average"


def _facts(evaluation: Evaluation) -> dict[str, str]:
    micro, macro = evaluation.spans.micro, evaluation.spans.macro
    values = {
        "precision": percent(micro.precision),
        "recall": percent(micro.recall),
        "macro F1": percent(macro.f1),
        "token accuracy": percent(evaluation.tokens.accuracy),
        "sentences": f"{evaluation.sentences:,}",
        "with errors": f"{len(evaluation.mistakes):,}",
        "tokens": f"{evaluation.tokens.tokens:,}",
        "gold spans": f"{micro.gold:,}",
    }
    if evaluation.calibration is not None:
        values["calibration error"] = error_text(evaluation.calibration.width)
    if evaluation.plain:
        values = {name: values[name] for name in ("macro F1", "sentences", "with errors", "tokens")}
    return values


def how_scored(evaluation: Evaluation) -> str:
    """Return the scheme, the mode and, if there are any, the invalid sequences and how they were repaired."""
    repair = evaluation.repair
    if evaluation.plain:
        return "Plain labels, compared token by token: micro precision, recall and F1 equal accuracy."
    told = f"Scheme {evaluation.scheme}. Mode {evaluation.mode}."
    if repair.invalid or repair.changed:
        told = (
            f"{told} Repair policy {repair.policy}: {repair.invalid:,} predicted sentences were invalid, "
            f"{repair.changed:,} tags changed."
        )
    return f"{told} Invalid gold sentences: {repair.invalid_gold:,}." if repair.invalid_gold else told


def unreachable_spans(evaluation: Evaluation) -> str:
    """Return a sentence on the gold spans that the tokens cannot express, or nothing if there are none."""
    number = sum(evaluation.unreachable.values())
    if not number:
        return ""
    total = count(evaluation.spans.micro.gold, "gold span")
    return (
        f"{number:,} of {total} {'does' if number == 1 else 'do'} not match the tokens "
        "(inside a token, across sentences or overlapping): counted as missed."
    )


def _calibration(evaluation: Evaluation) -> Markup | None:
    found = evaluation.calibration
    if found is None:
        return None
    scores = {"log loss": f"{found.nll:.4f}", "Brier score": f"{found.brier:.4f}"}
    return calibration_section(found, noun="spans", scores=scores)


def _risk(evaluation: Evaluation) -> Markup | None:
    curve = evaluation.risk_coverage
    return None if curve is None else risk_section(curve, noun="spans")


def _confusion(evaluation: Evaluation) -> Markup:
    return fragment(
        note(CONFUSION_NOTE if evaluation.plain else f"{CONFUSION_NOTE} {BOUNDARY_NOTE}"),
        confusion_table(evaluation.confusion, boundaries=not evaluation.plain),
        None if evaluation.boundaries is None else _boundaries(evaluation.boundaries),
    )


def _boundaries(boundaries: Boundaries) -> Markup:
    names = {"too_short": "too short", "too_long": "too long", "crossing": "crossing"}
    rows = [
        row(say(name), f"{boundaries.same_label[kind]:,}", f"{boundaries.other_label[kind]:,}")
        for kind, name in names.items()
    ]
    caption = "Wrong boundaries: predicted spans compared with the gold spans they overlap"
    return table(caption=caption, header=("", "correct type", "other type"), rows=rows)


def _novelty(evaluation: Evaluation) -> Markup | None:
    if evaluation.novelty is None:
        return None
    names = novelty_names(evaluation)
    header = (
        "gold word" if evaluation.plain else "gold mention",
        "gold",
        "found",
        "recall",
        "95% interval",
        "0 – 100",
    )
    rows = [
        _novelty_row(say(names[kind]), found, evaluation.novelty_interval(kind), names=header)
        for kind, found in evaluation.novelty.items()
    ]
    caption = "Recall in percent, by overlap with the training data"
    return table(caption=caption, header=header, rows=rows, class_="stack")


def _novelty_row(name: str, found: Recall, interval: Interval | None, *, names: Sequence[str]) -> Markup:
    counts = (f"{found.gold:,}", f"{found.correct:,}")
    if not found.gold:
        return row(name, *counts, "–", "", "", names=names)
    bar = interval_bar(found.recall, interval)
    return row(name, *counts, percent(found.recall), range_text(interval), bar, names=names)


def _errors(evaluation: Evaluation, colors: Mapping[str, str] | None) -> Markup:
    found = evaluation.worst_errors(MOST_PASSAGES)
    if not found:
        return element("p", say("None."))
    order = {id(mistake): at for at, mistake in enumerate(evaluation.mistakes)}
    marks = say("Marked: gold → predicted.") if evaluation.plain else fragment(say("Marks: "), legend())
    return fragment(
        element("p", say(_how_many(len(found), len(evaluation.mistakes))), " ", marks, class_="note legend"),
        filtered_list(
            [_item(mistake, evaluation, colors, order=order[id(mistake)]) for mistake in found],
            sorting="worst first",
        ),
    )


def _how_many(shown: int, total: int) -> str:
    """Return how many sentences are listed, and how many are left out."""
    if shown == total:
        return f"{count(total, 'sentence')} with errors."
    return f"The {shown:,} worst of {total:,} sentences with errors; {total - shown:,} are left out."


def _item(
    mistake: Mistake, evaluation: Evaluation, colors: Mapping[str, str] | None, *, order: int
) -> ListItem:
    plain = evaluation.plain
    return ListItem(
        passage(mistake, plain=plain, colors=colors),
        kinds=[] if plain else kinds_of(mistake),
        labels=wrong_labels(mistake),
        confidence=mistake.weight / mistake.errors,
        order=order,
    )


def _tags(evaluation: Evaluation) -> Markup | None:
    """Render the scores of each tag of a span tagger. Plain tags already have them under Labels."""
    if evaluation.plain:
        return None
    ordered = sorted(evaluation.tokens.labels.items(), key=lambda item: (-item[1].gold, item[0]))
    total = evaluation.tokens.tokens
    header = ("tag", "gold", "share of tokens", "predicted", "precision", "recall", "F1")
    rows = [
        row(
            tag,
            f"{counts.gold:,}",
            percent(counts.gold / total),
            f"{counts.predicted:,}",
            *map(percent, (counts.precision, counts.recall, counts.f1)),
            names=header,
        )
        for tag, counts in ordered[:MOST_LABELS]
    ]
    inner = table(caption="Scores of each tag, in percent", header=header, rows=rows, class_="stack")
    return folded(f"{len(ordered)} tags, token by token", inner)
