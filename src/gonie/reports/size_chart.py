"""The chart of scores by training size, with a logarithmic axis of sizes."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise

from gonie.messages import say
from gonie.reports.html.colors import CLASSES
from gonie.reports.html.markup import Markup, element
from gonie.reports.size_comparison import SizeComparison, SizeLine
from gonie.reports.size_tables import score_text
from gonie.reports.svg import Scale, across_line, left_margin, tick_labels, ticks

WIDTH, HEIGHT = 760, 420
TOP, BOTTOM, EDGE = 34, 374, 14  # the edges of the plot
NAMES = 190
"""The room for the names at the ends of the lines."""
NAME_HEIGHT, LETTER, LONGEST = 17, 7.2, 26
SHAPES = ("circle", "square", "triangle", "diamond")


def size_chart(found: SizeComparison, summary: str) -> Markup:
    """Render the lines of all models. ``summary`` is the text for readers who do not see it."""
    marks = ticks(*_range(found))
    labels = tick_labels(marks)
    left, right = left_margin(labels), WIDTH - NAMES
    low, high = math.log(found.sizes[0]), math.log(found.sizes[-1])
    across, up = Scale(low, high, left + 8, right), Scale(marks[0], marks[-1], BOTTOM, TOP)
    names = _places([up(100 * line.curve.points[-1].mean) for line in found.lines])
    return element(
        "svg",
        element("title", summary),
        element("text", say(f"{found.metric} in percent"), x=0, y=14, class_="name"),
        *(
            across_line(up(mark), label, left=left, right=right + 8)
            for mark, label in zip(marks, labels, strict=True)
        ),
        *_size_marks(found.sizes, across),
        element(
            "text",
            say(f"labelled training {found.noun}"),
            x=(left + right) / 2,
            y=HEIGHT - 6,
            text_anchor="middle",
        ),
        *(_spread(line, at, across, up) for at, line in enumerate(found.lines)),
        *(
            _line(line, at, across, up, name=name, right=right)
            for at, (line, name) in enumerate(zip(found.lines, names, strict=True))
        ),
        viewBox=f"0 0 {WIDTH} {HEIGHT}",
        role="img",
        class_="sizes",
    )


def _range(found: SizeComparison) -> tuple[float, float]:
    bands = [point.band for line in found.lines for point in line.curve.points]
    low, high = min(band.low for band in bands), max(band.high for band in bands)
    return 100 * max(0.0, low) if low >= 0 else 100 * low, 100 * min(1.0, high)


def _size_marks(sizes: Sequence[float], across: Scale) -> Iterator[Markup]:
    """Yield a mark for every size that has room for its label."""
    end = -math.inf
    for size in sizes:
        x, label = across(math.log(size)), f"{round(size):,}"
        yield Markup(element("line", x1=x, x2=x, y1=BOTTOM, y2=BOTTOM + 5, class_="axis"))
        if x - len(label) * LETTER / 2 > end:
            yield element("text", label, x=x, y=BOTTOM + 20, text_anchor="middle")
            end = x + len(label) * LETTER / 2 + 4


def _spread(line: SizeLine, at: int, across: Scale, up: Scale) -> Markup | None:
    """Render the band of one standard deviation."""
    points = [point for point in line.curve.points if point.sd is not None]
    if not points:
        return None
    upper = [(across(math.log(point.size)), up(100 * point.band.high)) for point in points]
    lower = [(across(math.log(point.size)), up(100 * point.band.low)) for point in reversed(points)]
    if len(points) == 1:
        upper, lower = (
            [(x + step, y) for x, y in upper for step in (-3, 3)],
            [(x + step, y) for x, y in lower for step in (3, -3)],
        )
    return element("polygon", points=_path([*upper, *lower]), class_=f"spread {_color(at)}")


def _line(line: SizeLine, at: int, across: Scale, up: Scale, *, name: float, right: float) -> Markup:
    """Render the line of a model with its marks, and its name at the end."""
    places = [(across(math.log(point.size)), up(100 * point.mean)) for point in line.curve.points]
    told = ", ".join(f"{round(p.size):,}: {score_text(p)}" for p in line.curve.points)
    x, y = places[-1]
    marks = () if line.constant else (_mark(px, py, at) for px, py in places)
    return element(
        "g",
        element("title", f"{line.name}: {told}"),
        element("polyline", points=_path(places), class_="curve constant" if line.constant else "curve"),
        *marks,
        element("line", x1=max(x, right) + 5, x2=right + EDGE, y1=y, y2=name, class_="leader"),
        element("text", _end_label(line), x=right + EDGE + 4, y=name + 4, class_="model"),
        class_=_color(at),
    )


def _end_label(line: SizeLine) -> str:
    """Return the name of a model for the end of its line, and that it was trained before."""
    before = f" ({say('trained before')})" if line.constant else ""
    room = LONGEST - len(before)
    return (line.name if len(line.name) <= room else line.name[: room - 1] + "…") + before


def _mark(x: float, y: float, at: int) -> Markup:
    """Render a point in the shape of its line, so that lines can be told apart without colours."""
    shape = SHAPES[at % len(SHAPES)]
    if shape == "circle":
        return element("circle", cx=x, cy=y, r=4, class_="mark")
    corners: Mapping[str, Sequence[tuple[float, float]]] = {
        "square": ((-3.6, -3.6), (3.6, -3.6), (3.6, 3.6), (-3.6, 3.6)),
        "triangle": ((0, -5), (4.6, 3.4), (-4.6, 3.4)),
        "diamond": ((0, -5), (5, 0), (0, 5), (-5, 0)),
    }
    places = [(round(x + dx, 1), round(y + dy, 1)) for dx, dy in corners[shape]]
    return element("polygon", points=_path(places), class_="mark")


def _places(wanted: Sequence[float]) -> list[float]:
    """Return heights near the wanted ones that are far enough apart for a line of text each."""
    order = sorted(range(len(wanted)), key=lambda at: wanted[at])
    found = [wanted[at] for at in order]
    for at in range(1, len(found)):
        found[at] = max(found[at], found[at - 1] + NAME_HEIGHT)
    if found:
        found[-1] = min(found[-1], BOTTOM)
    for at in reversed(range(len(found) - 1)):
        found[at] = min(found[at], found[at + 1] - NAME_HEIGHT)
    assert all(one < other for one, other in pairwise(found))
    placed = dict(zip(order, found, strict=True))
    return [round(placed[at], 1) for at in range(len(wanted))]


def _color(at: int) -> str:
    return CLASSES[at % len(CLASSES)]


def _path(places: Sequence[tuple[float, float]]) -> str:
    return " ".join(f"{x},{y}" for x, y in places)
