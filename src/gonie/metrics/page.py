"""What every HTML report is built of: the page with its policy, sections, facts and folded details.

The page holds no script and refers to nothing outside itself; a content policy in its head forbids both, so
that even text meant to break out stays text. What a report says, and in which order, is its own file's.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from gonie.metrics.intervals import Interval
from gonie.metrics.markup import Markup, element, row, table
from gonie.metrics.report_style import STYLE
from gonie.metrics.svg import training_curve

Record = Mapping[str, object]
"""A line of metrics.jsonl."""


def page(title: str, *sections: Markup | None) -> str:
    """The whole file."""
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


def percent(value: float) -> str:
    """A fraction as conlleval prints it: 0.81234 is 81.23."""
    return f"{100 * value:.2f}"


def range_text(interval: Interval | None) -> str:
    """An interval in percent, and nothing where there is none."""
    return "" if interval is None else f"{percent(interval[0])}–{percent(interval[1])}"


def section(name: str, *children: object) -> Markup:
    """A part of the page under its heading."""
    return element("section", element("h2", name), *children)


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


def facts(values: Mapping[str, object]) -> Markup:
    """Single values under their names, side by side."""
    return element("dl", *(_fact(name, value) for name, value in values.items()), class_="facts")


def _fact(name: str, value: object) -> Markup:
    return element("div", element("dt", name), element("dd", value))


def note(text: str) -> Markup:
    """A remark in small print."""
    return element("p", text, class_="note")


def training(records: Sequence[Record], *, unit: str = "sentence") -> Markup | None:
    """The curves of training, where there is anything to draw."""
    drawing = training_curve(records, unit=unit)
    return None if drawing is None else section("Training", drawing)


def folded(name: object, *children: object) -> Markup:
    """What only some readers want, behind its name."""
    return element("details", element("summary", name), *children)


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
