"""What the HTML reports of scores share: their opening, how they write numbers, the curves and the details.

The frame of the page is in ``gonie.reports.html``. What a report says, and in which order, is its own file's.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from gonie.metrics.intervals import Interval
from gonie.reports.html.frame import facts, folded, note, section
from gonie.reports.html.markup import Markup, element, row, table
from gonie.reports.svg import training_curve

Record = Mapping[str, object]
"""A line of metrics.jsonl."""


def percent(value: float) -> str:
    """A fraction as conlleval prints it: 0.81234 is 81.23."""
    return f"{100 * value:.2f}"


def range_text(interval: Interval | None) -> str:
    """An interval in percent, and nothing where there is none."""
    return "" if interval is None else f"{percent(interval[0])}–{percent(interval[1])}"


def opening(
    title: str,
    *,
    score: float,
    measure: str,
    interval: Interval | None,
    values: Mapping[str, object],
    told: str,
    unknown: Mapping[str, int],
) -> Markup:
    """The top of a page: the one score, large, with what it measures; further values; how it was scored; and
    a warning of labels in the file that the model cannot give."""
    named = ", ".join(f"{label} ({count:,})" for label, count in unknown.items())
    warning = f"Labels in the file that the model does not know: {named}. "
    return element(
        "header",
        element("h1", title),
        element(
            "p",
            element("b", percent(score)),
            element("span", measure),
            None if interval is None else element("span", f"95% interval {range_text(interval)}"),
            class_="headline",
        ),
        facts(values),
        note(told),
        element("p", warning, class_="warning") if unknown else None,
    )


def training(records: Sequence[Record], *, unit: str = "sentence") -> Markup | None:
    """The curves of training, where there is anything to draw."""
    drawing = training_curve(records, unit=unit)
    return None if drawing is None else section("Training", drawing)


def detail_section(values: Mapping[str, object]) -> Markup | None:
    """What else belongs to a report: a mapping as a table, long text folded away, anything else as a fact."""
    if not values:
        return None
    short = {name: value for name, value in values.items() if _is_fact(value)}
    longer = [_detail(name, value) for name, value in values.items() if not _is_fact(value)]
    return section("Details", facts(short) if short else None, *longer)


def _is_fact(value: object) -> bool:
    return not isinstance(value, Mapping) and not (isinstance(value, str) and "\n" in value)


def _detail(name: str, value: object) -> Markup:
    if isinstance(value, Mapping):
        return folded(name, _mapping(name, value))
    return folded(name, element("pre", value))


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
