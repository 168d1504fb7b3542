"""The parts shared by HTML reports of scores: header, number formats and details.

The page frame is in ``gonie.reports.html``. Each report decides its own content and order in its own module.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from gonie.messages import say
from gonie.metrics.intervals import Interval
from gonie.reports.html.frame import facts, folded, note
from gonie.reports.html.markup import Markup, element, fragment, row, table


def percent(value: float) -> str:
    """Format a fraction as conlleval does: 0.81234 is 81.23."""
    return f"{100 * value:.2f}"


def range_text(interval: Interval | None) -> str:
    """Format an interval in percent, or return an empty string if there is none."""
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
    missed: str = "",
) -> Markup:
    """Render the page header.

    It shows the main score with its measure, further values, how they were computed, a warning about labels
    in the file that the model cannot predict, and one about gold that it must miss.
    """
    named = ", ".join(f"{label} ({count:,})" for label, count in unknown.items())
    warning = f"Labels in the file that the model cannot predict: {named}. "
    return element(
        "header",
        element("h1", say(title)),
        element(
            "p",
            element("b", percent(score)),
            element("span", say(measure)),
            None if interval is None else element("span", say(f"95% interval {range_text(interval)}")),
            class_="headline",
        ),
        facts(values),
        note(told),
        element("p", say(warning), class_="warning") if unknown else None,
        element("p", say(missed), class_="warning") if missed else None,
    )


def details_of(values: Mapping[str, object]) -> Markup | None:
    """Render further details: mappings as tables, multi-line text collapsed, anything else as a fact."""
    if not values:
        return None
    short = {name: value for name, value in values.items() if _is_fact(value)}
    longer = [_detail(name, value) for name, value in values.items() if not _is_fact(value)]
    return fragment(facts(short) if short else None, *longer)


def _is_fact(value: object) -> bool:
    return not isinstance(value, Mapping) and not (isinstance(value, str) and "\n" in value)


def _detail(name: str, value: object) -> Markup:
    if isinstance(value, Mapping):
        return folded(name, _mapping(name, value))
    return folded(name, element("pre", value))


def _mapping(name: str, values: Mapping[str, object]) -> Markup:
    """Render a mapping as a table. A mapping of mappings gets one column per inner key."""
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
