"""Which model is best from how many labelled examples on, in sentences."""

from __future__ import annotations

import math
from collections.abc import Sequence

from gonie.metrics.score_curves import Region
from gonie.reports.size_comparison import SizeComparison


def verdict(found: SizeComparison) -> str:
    """Return where one model is best, where there is no clear difference, and where the lines cross."""
    parts = _visible(found.regions)
    if not parts:
        return "No model has a score at two sizes."
    sentences = [_sentence(found, parts, at) for at in range(len(parts))]
    return " ".join([*sentences, *_caution(found)])


def _caution(found: SizeComparison) -> list[str]:
    if found.seeds == 1:
        return ["Each score is that of one seed, so small differences may be chance."]
    return []


def _visible(regions: Sequence[Region]) -> list[Region]:
    """Leave out regions without a clear difference that are too narrow to be seen in rounded numbers."""
    return [each for each in regions if each.clear or _about(each.start) != _about(each.end)]


def _sentence(found: SizeComparison, parts: Sequence[Region], at: int) -> str:
    region = parts[at]
    where = _where(found, parts, at)
    if not region.clear:
        text = f"{where}, there is no clear difference between {_names(region.names)}"
        if region.others:
            text = f"{text} (in a part of this range also {_names(region.others)})"
        if region.crossings:
            text = f"{text}; the means cross at about {_listed([_about(size) for size in region.crossings])}"
        return f"{text}."
    return _best(found, region, where, last=at == len(parts) - 1)


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


def _best(found: SizeComparison, region: Region, where: str, *, last: bool) -> str:
    """Return a sentence with the score of the best model and of the next one, if there is one.

    The scores are those of a measured size of the region: the largest one of the last region, and otherwise
    the smallest one.
    """
    best = _names(region.names)
    inside = [size for size in found.sizes if region.start <= size <= region.end]
    size = math.nan if not inside else inside[-1] if last else inside[0]
    points = {line.name: point for line in found.lines if (point := line.point(size)) is not None}
    own = points.pop(region.names[0], None)
    if own is None:
        return f"{where}, {best} is best."
    score, number = f"{100 * own.mean:.1f}", f"{round(size):,}"
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
