"""The HTML report: one file that needs no other, to be read, kept and sent.

The page holds no script and refers to nothing outside itself; a content policy in its head forbids both, so
that even text meant to break out stays text. Drawings are in ``svg.py``, marked sentences in ``passages.py``.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from gonie.metrics.counts import Counts
from gonie.metrics.evaluation import Evaluation
from gonie.metrics.intervals import Interval
from gonie.metrics.labels import Boundaries, Confusion
from gonie.metrics.markup import Markup, element, fragment, row, table
from gonie.metrics.novelty import Novelty, Recall
from gonie.metrics.passages import LEGEND, passage
from gonie.metrics.report_style import STYLE
from gonie.metrics.svg import interval_bar, training_curve

MOST_LABELS, MOST_CELLS, MOST_PASSAGES = 100, 24, 20
"""How many labels a table, how many a confusion table, and how many wrong sentences the page shows."""

BOUNDARY_NOTE = (
    "Types are compared where both sides have a span with the same boundaries. Wrong boundary: "
    "the span overlaps one of the other side; missed and spurious: it overlaps none."
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
"""What the classes of novelty are called, for mentions and for the single words of plain labels."""


def render(
    evaluation: Evaluation,
    *,
    title: str,
    curve: Sequence[Mapping[str, object]] | None = None,
    details: Mapping[str, object] | None = None,
) -> str:
    """The whole report as one HTML file.

    ``curve`` are the records of metrics.jsonl (``epoch``, ``score``, ``loss``, ``rate``, ``seconds``).
    ``details`` come last under their names: a mapping as a table, text of several lines (the recipe) folded
    away, anything else as a line.
    """
    sections = [
        _head(evaluation, title),
        _curve(curve or ()),
        _types(evaluation),
        _confusion(evaluation),
        _novelty(evaluation),
        _errors(evaluation),
        _tags(evaluation),
        _details(details or {}),
    ]
    return "<!DOCTYPE html>\n" + element(
        "html", _meta(title), element("body", element("main", *sections)), lang="en"
    )


def _meta(title: str) -> Markup:
    return element(
        "head",
        Markup('<meta charset="utf-8">'),
        Markup('<meta name="viewport" content="width=device-width,initial-scale=1">'),
        Markup('<meta http-equiv="Content-Security-Policy" content="default-src \'none\';'),
        Markup("style-src 'unsafe-inline'\">"),
        element("title", title),
        element("style", Markup(STYLE)),
    )


def _section(name: str, *children: object) -> Markup:
    return element("section", element("h2", name), *children)


def percent(value: float) -> str:
    """A fraction as conlleval prints it: 0.81234 is 81.23."""
    return f"{100 * value:.2f}"


def range_text(interval: Interval | None) -> str:
    """An interval in percent, and nothing where there is none."""
    return "" if interval is None else f"{percent(interval[0])}–{percent(interval[1])}"


def novelty_names(evaluation: Evaluation) -> Mapping[Novelty, str]:
    """What to call the classes of novelty in this evaluation."""
    return WORDS if evaluation.plain else MENTIONS


def _head(evaluation: Evaluation, title: str) -> Markup:
    name, value = evaluation.headline
    interval = evaluation.interval(name)
    return element(
        "header",
        element("h1", title),
        element(
            "p",
            element("b", percent(value)),
            element("span", _measure(evaluation)),
            None if interval is None else element("span", f"95% interval {range_text(interval)}"),
            class_="headline",
        ),
        _facts(evaluation),
        element("p", how_scored(evaluation), class_="note"),
        _unknown(evaluation),
    )


def _measure(evaluation: Evaluation) -> str:
    if evaluation.plain:
        return "accuracy of tokens"
    what = "tokens that are not O" if evaluation.mode == "token" else "spans"
    return f"F1 of {what}, micro average"


def _facts(evaluation: Evaluation) -> Markup:
    micro, macro = evaluation.spans.micro, evaluation.spans.macro
    facts = {
        "precision": percent(micro.precision),
        "recall": percent(micro.recall),
        "macro F1": percent(macro.f1),
        "token accuracy": percent(evaluation.tokens.accuracy),
        "sentences": f"{evaluation.sentences:,}",
        "with errors": f"{len(evaluation.mistakes):,}",
        "tokens": f"{evaluation.tokens.tokens:,}",
        "gold spans": f"{micro.gold:,}",
    }
    if evaluation.plain:
        facts = {name: facts[name] for name in ("macro F1", "sentences", "with errors", "tokens")}
    return element("dl", *(_fact(name, value) for name, value in facts.items()), class_="facts")


def _fact(name: str, value: object) -> Markup:
    return element("div", element("dt", name), element("dd", value))


def how_scored(evaluation: Evaluation) -> str:
    """One sentence on the scheme, the mode, the repair policy and how many sequences were invalid."""
    repair = evaluation.repair
    if evaluation.plain:
        return "Plain labels, compared token by token: micro precision, recall and F1 equal accuracy."
    gold = f"; {repair.invalid_gold:,} gold sentences are invalid" if repair.invalid_gold else ""
    return (
        f"Scheme {evaluation.scheme}. Mode {evaluation.mode}. Repair policy {repair.policy}: "
        f"{repair.invalid:,} predicted sentences were invalid, {repair.changed:,} tags changed{gold}."
    )


def _unknown(evaluation: Evaluation) -> Markup | None:
    if not evaluation.unknown_labels:
        return None
    named = ", ".join(f"{label} ({count:,})" for label, count in evaluation.unknown_labels.items())
    return element("p", f"Labels in the file that the model does not know: {named}. ", class_="warning")


def _curve(records: Sequence[Mapping[str, object]]) -> Markup | None:
    drawing = training_curve(records)
    return None if drawing is None else _section("Training", drawing)


def _types(evaluation: Evaluation) -> Markup:
    ordered = evaluation.by_frequency
    micro, macro = evaluation.spans.micro, evaluation.interval("macro_f1")
    rows = [
        *(
            _score_row(label, counts, evaluation.type_interval(label))
            for label, counts in ordered[:MOST_LABELS]
        ),
        _score_row("all (micro)", micro, evaluation.interval("f1"), class_="total"),
        _macro_row(evaluation, macro),
    ]
    header = ("", "gold", "predicted", "correct", "precision", "recall", "F1", "95% interval", "0 – 100")
    return _section(
        "Labels" if evaluation.plain else "Types",
        table(caption="Scores in percent, most frequent first", header=header, rows=rows),
        _left_out(len(ordered) - MOST_LABELS),
    )


def _left_out(count: int) -> Markup | None:
    return element("p", f"{count:,} rarer labels are in the JSON only.", class_="note") if count > 0 else None


def _score_row(label: str, counts: Counts, interval: Interval | None, class_: str | None = None) -> Markup:
    numbers = (f"{number:,}" for number in (counts.gold, counts.predicted, counts.correct))
    scores = map(percent, (counts.precision, counts.recall, counts.f1))
    return row(
        label, *numbers, *scores, range_text(interval), interval_bar(counts.f1, interval), class_=class_
    )


def _macro_row(evaluation: Evaluation, interval: Interval | None) -> Markup:
    macro = evaluation.spans.macro
    scores = map(percent, (macro.precision, macro.recall, macro.f1))
    return row("all (macro)", "", "", "", *scores, range_text(interval), interval_bar(macro.f1, interval))


def _confusion(evaluation: Evaluation) -> Markup:
    table_of = evaluation.confusion
    labels = table_of.labels
    shown = labels[:MOST_CELLS]
    note = "Rows are gold, columns are predicted; the darker a cell, the larger its share of the row. "
    if not evaluation.plain:
        note += BOUNDARY_NOTE
    return _section(
        "Confusion",
        element("p", note, class_="note"),
        _confusion_table(table_of, shown, plain=evaluation.plain),
        None if len(labels) == len(shown) else element("p", _rest(table_of, shown), class_="note"),
        None if evaluation.boundaries is None else _boundaries(evaluation.boundaries),
    )


def _rest(confusion: Confusion, shown: Sequence[str]) -> str:
    kept = set(shown)
    rest = sum(count for pair, count in confusion.pairs.items() if not kept.issuperset(pair))
    return f"The {len(shown)} most frequent labels; {rest:,} pairs with rarer ones are in the JSON only."


def _confusion_table(confusion: Confusion, labels: Sequence[str], *, plain: bool) -> Markup:
    rows = []
    for gold in labels:
        cells = [confusion.pairs[gold, predicted] for predicted in labels]
        cells += [] if plain else [confusion.gold_boundary[gold], confusion.missed[gold]]
        rows.append(_shaded(gold, cells, right=labels.index(gold)))
    if not plain:
        for name, part in (
            ("wrong boundary", confusion.predicted_boundary),
            ("spurious", confusion.spurious),
        ):
            rows.append(_shaded(name, [part[label] for label in labels], right=None, blank=2))
    extra = () if plain else ("wrong boundary", "missed")
    header = ("gold ↓ predicted →", *labels, *extra)
    return table(caption="Counts", header=header, rows=rows, class_="shades")


def _shaded(name: str, cells: Sequence[int], *, right: int | None, blank: int = 0) -> Markup:
    total = sum(cells) or 1
    shown = [_cell(count, count / total, right=at == right) for at, count in enumerate(cells)]
    return row(name, *shown, *[element("td", "")] * blank)


def _cell(count: int, share: float, *, right: bool) -> Markup:
    kind = "right" if right else None if count else "none"
    return element("td", f"{count:,}" if count else "·", style=f"--a:{share**0.5:.2f}", class_=kind)


def _boundaries(boundaries: Boundaries) -> Markup:
    names = {"too_short": "too short", "too_long": "too long", "crossing": "crossing"}
    rows = [
        row(name, f"{boundaries.same_label[kind]:,}", f"{boundaries.other_label[kind]:,}")
        for kind, name in names.items()
    ]
    caption = "Wrong boundaries: predicted spans beside the gold span they overlap"
    return table(caption=caption, header=("", "right type", "other type"), rows=rows)


def _novelty(evaluation: Evaluation) -> Markup | None:
    if evaluation.novelty is None:
        return None
    names = novelty_names(evaluation)
    rows = [
        _novelty_row(names[kind], found, evaluation.novelty_interval(kind))
        for kind, found in evaluation.novelty.items()
    ]
    header = (
        "gold word" if evaluation.plain else "gold mention",
        "gold",
        "found",
        "recall",
        "95% interval",
        "0 – 100",
    )
    inner = table(caption="Recall in percent, by whether training had it", header=header, rows=rows)
    return _section("Seen in training?", inner)


def _novelty_row(name: str, found: Recall, interval: Interval | None) -> Markup:
    counts = (f"{found.gold:,}", f"{found.correct:,}")
    if not found.gold:
        return row(name, *counts, "–", "", "")
    return row(
        name, *counts, percent(found.recall), range_text(interval), interval_bar(found.recall, interval)
    )


def _errors(evaluation: Evaluation) -> Markup:
    found = evaluation.worst_errors(MOST_PASSAGES)
    if not found:
        return _section("Errors", element("p", "None."))
    shown = f"The {len(found)} worst of {len(evaluation.mistakes):,} sentences with errors. "
    legend = "Marked: gold → predicted." if evaluation.plain else fragment("Marks: ", LEGEND)
    return _section(
        "Worst errors",
        element("p", shown, legend, class_="note legend"),
        *(passage(mistake, plain=evaluation.plain) for mistake in found),
    )


def _tags(evaluation: Evaluation) -> Markup | None:
    """Label statistics of a span tagger: its tags one by one. Plain labels have them under Labels already."""
    if evaluation.plain:
        return None
    ordered = sorted(evaluation.tokens.labels.items(), key=lambda item: (-item[1].gold, item[0]))
    total = evaluation.tokens.tokens
    rows = [
        row(
            tag,
            f"{counts.gold:,}",
            percent(counts.gold / total),
            f"{counts.predicted:,}",
            *map(percent, (counts.precision, counts.recall, counts.f1)),
        )
        for tag, counts in ordered[:MOST_LABELS]
    ]
    header = ("tag", "gold", "share of tokens", "predicted", "precision", "recall", "F1")
    inner = table(caption="Every tag by itself, in percent", header=header, rows=rows)
    return _section("Tags", _folded(f"{len(ordered)} tags, token by token", inner))


def _folded(name: object, *children: object) -> Markup:
    return element("details", element("summary", name), *children)


def _details(details: Mapping[str, object]) -> Markup | None:
    if not details:
        return None
    facts = [_fact(name, value) for name, value in details.items() if _is_fact(value)]
    longer = [_detail(name, value) for name, value in details.items() if not _is_fact(value)]
    return _section("Details", element("dl", *facts, class_="facts") if facts else None, *longer)


def _is_fact(value: object) -> bool:
    return not isinstance(value, Mapping) and not (isinstance(value, str) and "\n" in value)


def _detail(name: str, value: object) -> Markup:
    if isinstance(value, Mapping):
        return _folded(name, _mapping(name, value))
    return _folded(name, element("pre", value))


def _mapping(name: str, values: Mapping[str, object]) -> Markup:
    """A mapping as a table; one of mappings with a column for each of their keys."""
    inner = [value for value in values.values() if isinstance(value, Mapping)]
    if values and len(inner) == len(values):
        columns = list(dict.fromkeys(key for value in inner for key in value))
        rows: Iterable[Markup] = (
            row(key, *(_shown(value.get(column, "")) for column in columns))
            for key, value in zip(values, inner, strict=True)
        )
        return table(caption=name, header=("", *columns), rows=rows)
    return table(
        caption=name, header=("", "value"), rows=(row(key, _shown(value)) for key, value in values.items())
    )


def _shown(value: object) -> str:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return str(value)
    return f"{value:,}" if isinstance(value, int) else f"{value:.4g}"
