"""SVG drawings of the reports: training curves and small interval bars.

Colours come from the style sheet of the page by class, so they follow light and dark mode.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from gonie.reports.html.markup import Markup, element

WIDTH, PANEL, LEFT, RIGHT, TOP, BOTTOM = 450, 160, 46, 14, 28, 24


@dataclass(frozen=True, slots=True)
class Panel:
    """One curve: the record key it shows, its title (with a placeholder for the unit) and number format."""

    key: str
    title: str
    show: Callable[[float], str]
    mark_best: bool = False


PANELS = (
    Panel("score", "Dev score", lambda value: f"{100 * value:.4g}", mark_best=True),
    Panel("train_score", "Score on training {unit}s", lambda value: f"{100 * value:.4g}"),
    Panel("loss", "Training loss per {unit}", lambda value: f"{value:.4g}"),
    Panel("rate", "Learning rate", lambda value: f"{value:.3g}"),
    Panel("seconds", "Seconds per epoch", lambda value: f"{value:.3g}"),
)


def training_curve(records: Sequence[Mapping[str, object]], *, unit: str = "sentence") -> Markup | None:
    """Render one panel per quantity over the epochs, from records with ``epoch`` and the keys of ``PANELS``.

    A quantity that no record has gets no panel. Non-finite values are left out of the line. ``unit`` is what
    the model trains on: sentences or texts.
    """
    named = (replace(panel, title=panel.title.format(unit=unit)) for panel in PANELS)
    drawn = [drawing for panel in named if (drawing := _panel(panel, records)) is not None]
    return element("div", *drawn, class_="curves") if drawn else None


def points(records: Sequence[Mapping[str, object]], key: str) -> list[tuple[float, float]]:
    """Return (epoch, value) of the records where both are finite numbers."""
    pairs = [(_number(record.get("epoch")), _number(record.get(key))) for record in records]
    return [(x, y) for x, y in pairs if x is not None and y is not None]


def _number(value: object) -> float | None:
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        return None
    return float(value)


@dataclass(frozen=True, slots=True)
class Scale:
    """A linear map of values low..high to positions first..last on the page."""

    low: float
    high: float
    first: float
    last: float

    def __call__(self, value: float) -> float:
        """Return the position of a value, rounded to a tenth of a unit."""
        share = (value - self.low) / (self.high - self.low)
        return round(self.first + share * (self.last - self.first), 1)


def ticks(low: float, high: float, count: int = 4) -> list[float]:
    """Return about ``count`` round numbers (1, 2 or 5 times a power of ten apart) that span low..high."""
    if low == high:
        margin = abs(low) / 2 or 0.5
        low, high = low - margin, high + margin
    rough = (high - low) / count
    power = 10.0 ** math.floor(math.log10(rough))
    step = next(power * digit for digit in (1, 2, 5, 10) if power * digit >= rough * 0.999)
    first, last = math.floor(low / step + 1e-9), math.ceil(high / step - 1e-9)
    return [round(step * at, 12) for at in range(first, last + 1)]


def _panel(panel: Panel, records: Sequence[Mapping[str, object]]) -> Markup | None:
    path = points(records, panel.key)
    if not path:
        return None
    marks = ticks(min(y for _, y in path), max(y for _, y in path))
    low, high = path[0][0], path[-1][0]
    across = Scale(low, high if high > low else low + 1, LEFT, WIDTH - RIGHT)
    up = Scale(marks[0], marks[-1], PANEL - BOTTOM, TOP)
    best = max(path, key=lambda point: point[1]) if panel.mark_best else None
    told = (
        f"{panel.title}: {len(path)} epochs, first {panel.show(path[0][1])}, last {panel.show(path[-1][1])}"
    )
    return element(
        "svg",
        element(
            "title", told if best is None else f"{told}, best {panel.show(best[1])} in epoch {best[0]:g}"
        ),
        element("text", panel.title, x=LEFT, y=14, class_="name"),
        *(_across_line(up(mark), panel.show(mark)) for mark in marks),
        *(_epoch_mark(across(x), x) for x in _epochs(low, high)),
        _line([(across(x), up(y)) for x, y in path], panel.key),
        None if best is None else _best(across(best[0]), up(best[1]), f"{panel.show(best[1])} best"),
        viewBox=f"0 0 {WIDTH} {PANEL}",
        role="img",
    )


def _epochs(low: float, high: float) -> list[float]:
    marks = [mark for mark in ticks(low, high, 6) if low <= mark <= high and mark == int(mark)]
    return marks if low in marks else [low, *marks]


def _across_line(y: float, label: str) -> Markup:
    line = element("line", x1=LEFT, x2=WIDTH - RIGHT, y1=y, y2=y, class_="grid")
    return Markup(line + element("text", label, x=LEFT - 8, y=y + 4, text_anchor="end"))


def _epoch_mark(x: float, epoch: float) -> Markup:
    return element("text", f"{epoch:g}", x=x, y=PANEL - 4, text_anchor="middle")


def _line(path: list[tuple[float, float]], key: str) -> Markup:
    line = element("polyline", points=" ".join(f"{x},{y}" for x, y in path), class_=f"line {key}")
    if len(path) > 60:
        return line
    dots = (element("circle", cx=x, cy=y, r=2.5, class_=f"dot {key}") for x, y in path)
    return Markup(line + "".join(dots))


def _best(x: float, y: float, label: str) -> Markup:
    anchor = "end" if x > WIDTH / 2 else "start"
    ring = element("circle", cx=x, cy=y, r=6, class_="ring")
    return Markup(
        ring + element("text", label, x=x + (-10 if anchor == "end" else 10), y=y + 16, text_anchor=anchor)
    )


def interval_bar(value: float, interval: tuple[float, float] | None) -> Markup:
    """Render a score between 0 and 1 as a dot and its interval as a line, on an axis from 0 to 1."""
    across = Scale(0, 1, 4, 116)
    whisker = None
    if interval is not None:
        whisker = element(
            "line", x1=across(interval[0]), x2=across(interval[1]), y1=8, y2=8, class_="whisker"
        )
    return element(
        "svg",
        element("line", x1=4, x2=116, y1=8, y2=8, class_="axis"),
        whisker,
        element("circle", cx=across(value), cy=8, r=3.5, class_="point"),
        viewBox="0 0 120 16",
        class_="bar",
        aria_hidden="true",
    )
