"""Which model is best from how many labelled examples on, in sentences."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from itertools import pairwise

from gonie.metrics.score_curves import Region, best_at, reached_from
from gonie.reports.size_comparison import SizeComparison, SizeLine
from gonie.reports.size_tables import origin


def verdict(found: SizeComparison) -> str:
    """Return where one model is best, where there is no clear difference, and where the lines cross.

    Models that were trained before are not among them. They have a sentence of their own.
    """
    parts = _visible(found.regions)
    if not parts:
        return "No model has a score at two sizes."
    sentences = [text for at in range(len(parts)) for text in _sentences(found, parts, at)]
    references = [_reference(found, line) for line in found.lines if line.constant]
    return " ".join([*sentences, *references, *_caution(found)])


def _reference(found: SizeComparison, line: SizeLine) -> str:
    """Return the score of a model that was trained before, and from which size on another one reaches it."""
    name, how, mean = _names([line.name]), origin(line, found.noun), line.curve.points[-1].mean
    score, reached = f"{100 * mean:.1f}", reached_from(found.curves, mean)
    if reached is None:
        largest = f"{round(found.sizes[-1]):,}"
        return f"{name} ({how}) has {score} {found.metric}; with {largest}, no other model reaches this."
    size, other = _edge(found, reached[0]), _names([reached[1]])
    return f"{name} ({how}) has {score} {found.metric}; {other} reaches this with {size}."


def _caution(found: SizeComparison) -> list[str]:
    if found.seeds == 1:
        return ["Each score is that of one seed, so small differences may be chance."]
    return []


def _visible(regions: Sequence[Region]) -> list[Region]:
    """Leave out regions without a clear difference that are too narrow to be seen in rounded numbers."""
    return [each for each in regions if each.clear or _about(each.start) != _about(each.end)]


def _sentences(found: SizeComparison, parts: Sequence[Region], at: int) -> Iterator[str]:
    """Yield what is to be said about a part, and about measured sizes at which another model is as good."""
    region = parts[at]
    where = _where(found, parts, at)
    if not region.clear:
        yield _unclear(region, where)
        return
    inside = [size for size in found.sizes if region.start <= size <= region.end]
    best = {size: best_at(found.curves, size) for size in inside}
    clear = [size for size in inside if best[size] == region.names]
    yield _best(found, region, where, clear[-1 if at == len(parts) - 1 else 0] if clear else None)
    borders = [one.end for one, other in pairwise(parts) if one.end == other.start]
    for size in inside:
        if size not in clear and size not in borders:
            yield f"With {round(size):,}, there is no clear difference between {_names(best[size])}."


def _unclear(region: Region, where: str) -> str:
    """Return a sentence with the models that do not differ clearly."""
    text = f"{where}, there is no clear difference between {_names(region.names)}"
    if region.others:
        text = f"{text} (in a part of this range also {_names(region.others)})"
    if region.crossings:
        text = f"{text}; the means cross at about {_listed([_about(size) for size in region.crossings])}"
    return f"{text}."


def _where(found: SizeComparison, parts: Sequence[Region], at: int) -> str:
    """Return the sizes of a part in words. Measured sizes are exact."""
    region, only = parts[at], len(parts) == 1
    start, end = _edge(found, region.start), _edge(found, region.end)
    if only:
        return f"From {start} to {end} labelled {found.noun}"
    if at == 0:
        return f"Below {end} labelled {found.noun}"
    if at == len(parts) - 1:
        return f"From {start}"
    upper = end.removeprefix("about ") if start.startswith("about ") else end
    return f"Between {start} and {upper}"


def _edge(found: SizeComparison, size: float) -> str:
    measured = any(math.isclose(size, each) for each in found.sizes)
    return f"{round(size):,}" if measured else f"about {_about(size)}"


def _about(size: float) -> str:
    """Return a size rounded to two digits."""
    digits = 1 - math.floor(math.log10(size))
    return f"{int(round(size, digits)):,}"


def _best(found: SizeComparison, region: Region, where: str, size: float | None) -> str:
    """Return a sentence with the best model, and its score and that of the next one at a measured size."""
    best = _names(region.names)
    if size is None:
        return f"{where}, {best} is best."
    points = {line.name: point for line in found.compared if (point := line.point(size)) is not None}
    score, number = f"{100 * points.pop(region.names[0]).mean:.1f}", f"{round(size):,}"
    if not points:
        return f"{where}, {best} is best ({score} {found.metric} with {number})."
    name = max(points, key=lambda each: points[each].mean)
    following, lower = _names([name]), f"{100 * points[name].mean:.1f}"
    return (
        f"{where}, {best} is best ({score} {found.metric} with {number}; next is {following} with {lower})."
    )


def _names(names: Sequence[str]) -> str:
    """Return names of models as a list. A name of several words is quoted."""
    return _listed([f"“{name}”" if " " in name else name for name in names])


def _listed(names: Sequence[str]) -> str:
    if not names:
        return ""
    *others, last = names
    return " and ".join([", ".join(others), last]) if others else last
