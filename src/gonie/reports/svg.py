"""SVG drawings of the reports: training curves and small interval bars.

Colours come from the style sheet of the page by class, so they follow light and dark mode.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from gonie.messages import say
from gonie.reports.html.markup import Markup, element
from gonie.text.report import count

WIDTH, PANEL, RIGHT, TOP, BOTTOM = 450, 160, 24, 28, 24
NARROW, GAP, LETTER = 52, 8, 8.5
"""The narrowest left margin, the gap between a label and its axis, and more than the width of a digit.

Digits of DejaVu Sans, one of the widest fonts of interfaces, are 7.7 wide at the size of the labels.
"""


@dataclass(frozen=True, slots=True)
class Panel:
    """One curve: the record key it shows, its title (with a placeholder for the unit) and a factor."""

    key: str
    title: str
    factor: float = 1
    mark_best: bool = False
    least: float = -math.inf
    """Values below it are rounding errors, and drawn as it."""


PANELS = (
    Panel("score", "Dev score", factor=100, mark_best=True),
    Panel("train_score", "Score on training {unit}s", factor=100),
    Panel("loss", "Training loss per {unit}", least=0),
    Panel("rate", "Learning rate"),
    Panel("seconds", "Seconds per epoch"),
)


@dataclass(frozen=True, slots=True)
class Curve:
    """The values of a panel: (epoch, value) points, and the best one if the panel marks it.

    Of several best epochs, the best one is that of the saved model.
    """

    title: str
    key: str
    path: list[tuple[float, float]]
    best: tuple[float, float] | None

    @property
    def marks(self) -> list[float]:
        """The values of the horizontal lines."""
        values = [value for _, value in self.path]
        return ticks(min(values), max(values))


def training_curve(records: Sequence[Mapping[str, object]], *, unit: str = "sentence") -> Markup | None:
    """Render one panel per quantity over the epochs, from records with ``epoch`` and the keys of ``PANELS``.

    A quantity that no record has gets no panel. Non-finite values are left out of the line. The best epoch is
    the last one that ``improved``. ``unit`` is what the model trains on: a sentence, a text or a pair.
    """
    curves = [curve for panel in PANELS if (curve := _curve(panel, records, unit)) is not None]
    left = left_margin([label for curve in curves for label in tick_labels(curve.marks)])
    return element("div", *(_drawing(curve, left) for curve in curves), class_="curves") if curves else None


def _curve(panel: Panel, records: Sequence[Mapping[str, object]], unit: str) -> Curve | None:
    path, better = (
        [(epoch, max(panel.least, panel.factor * value)) for epoch, value in points(chosen, panel.key)]
        for chosen in (records, [record for record in records if record.get("improved") is True])
    )
    best = better[-1] if panel.mark_best and better else None
    return Curve(say(panel.title.format(unit=unit)), panel.key, path, best) if path else None


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


ALIKE = 1e-12
TINY = 1e-300
"""Relative and absolute differences that are not shown: the values are drawn as equal."""


def ticks(low: float, high: float, number: int = 4) -> list[float]:
    """Return about ``number`` round numbers (1, 2 or 5 times a power of ten apart) that span low..high."""
    largest = max(abs(low), abs(high))
    if high - low <= max(ALIKE * largest, TINY):
        margin = largest / 2 if largest > TINY else 0.5
        low, high = low - margin, high + margin
    rough = (high - low) / number
    power = 10.0 ** math.floor(math.log10(rough))
    step = next(power * digit for digit in (1, 2, 5, 10) if power * digit >= rough * 0.999)
    first, last = math.floor(low / step + 1e-9), math.ceil(high / step - 1e-9)
    decimals = 1 - math.floor(math.log10(step) + 1e-9)
    return [round(step * at, decimals) for at in range(first, last + 1)]


def tick_labels(marks: Sequence[float]) -> list[str]:
    """Return the marks as text, all with the decimals that their distance needs."""
    step, largest = marks[1] - marks[0], max(map(abs, marks))
    if step < 1e-5 or largest >= 1e6:
        return [f"{mark:.3g}" for mark in marks]
    decimals = max(0, -math.floor(math.log10(step) + 1e-9))
    return [f"{mark:.{decimals}f}" for mark in marks]


def left_margin(labels: Iterable[str]) -> float:
    """Return the room that the labels of a vertical axis need."""
    return max(NARROW, GAP + LETTER * max(map(len, labels), default=0))


def across_line(y: float, label: str, *, left: float, right: float) -> Markup:
    """Render a horizontal grid line with its label on the left."""
    line = element("line", x1=left, x2=right, y1=y, y2=y, class_="grid")
    return Markup(line + element("text", label, x=left - GAP, y=y + 4, text_anchor="end"))


def _drawing(curve: Curve, left: float) -> Markup:
    marks, right = curve.marks, WIDTH - RIGHT
    low, high = curve.path[0][0], curve.path[-1][0]
    across = Scale(low, high if high > low else low + 1, left, right)
    up = Scale(marks[0], marks[-1], PANEL - BOTTOM, TOP)
    best = None if curve.best is None else say(_best_text(curve.path, curve.best))
    told = say(f"first {curve.path[0][1]:.4g}, last {curve.path[-1][1]:.4g}")
    title = f"{curve.title}: {say(count(len(curve.path), 'epoch'))}, {told}"
    return element(
        "svg",
        element("title", title if best is None else f"{title}, {best}"),
        element("text", curve.title, x=0, y=14, class_="name"),
        None if best is None else element("text", best, x=WIDTH - 2, y=14, text_anchor="end"),
        *(
            across_line(up(mark), label, left=left, right=right)
            for mark, label in zip(marks, tick_labels(marks), strict=True)
        ),
        element("text", say("epoch"), x=left - GAP, y=PANEL - 4, text_anchor="end"),
        *(_epoch_mark(across(x), x) for x in _epochs(low, high)),
        _line([(across(x), up(y)) for x, y in curve.path], curve.key),
        None if curve.best is None else _ring(across(curve.best[0]), up(curve.best[1])),
        viewBox=f"0 0 {WIDTH} {PANEL}",
        role="img",
    )


def _best_text(path: Sequence[tuple[float, float]], best: tuple[float, float]) -> str:
    epoch, value = best
    if any(other == value and before < epoch for before, other in path):
        return f"best {value:.2f}, last in epoch {epoch:g}"
    return f"best {value:.2f} in epoch {epoch:g}"


def _epochs(low: float, high: float) -> list[float]:
    marks = [mark for mark in ticks(low, high, 6) if low <= mark <= high and mark == int(mark)]
    return marks if low in marks else [low, *marks]


def _epoch_mark(x: float, epoch: float) -> Markup:
    return element("text", f"{epoch:g}", x=x, y=PANEL - 4, text_anchor="middle")


def _line(path: list[tuple[float, float]], key: str) -> Markup:
    line = element("polyline", points=" ".join(f"{x},{y}" for x, y in path), class_=f"line {key}")
    if len(path) > 60:
        return line
    dots = (element("circle", cx=x, cy=y, r=2.5, class_=f"dot {key}") for x, y in path)
    return Markup(line + "".join(dots))


def _ring(x: float, y: float) -> Markup:
    return element("circle", cx=x, cy=y, r=6, class_="ring")


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
