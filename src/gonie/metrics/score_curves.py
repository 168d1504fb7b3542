"""Scores by the number of labelled training examples, and which model is best from where on.

Between two measured sizes, means and intervals are interpolated linearly over the logarithm of the size. A
model is clearly best where its interval lies above those of all others. Elsewhere, no difference is clear.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations, pairwise, permutations
from typing import NamedTuple

ROUNDING = 1e-9
"""Means that differ by less are equal."""


class Band(NamedTuple):
    """A score, and the lower and the upper end of its interval."""

    mean: float
    low: float
    high: float


class ScorePoint(NamedTuple):
    """The score of a model that is trained on ``size`` examples, with its standard deviation over seeds."""

    size: float
    mean: float
    sd: float | None = None

    @property
    def band(self) -> Band:
        """The mean ± the standard deviation, which is 0 if it is unknown."""
        spread = self.sd or 0.0
        return Band(self.mean, self.mean - spread, self.mean + spread)


@dataclass(frozen=True)
class ScoreCurve:
    """The scores of a model by ascending size."""

    name: str
    points: tuple[ScorePoint, ...]

    def at(self, size: float) -> Band | None:
        """Return the interpolated score, or None outside of the measured sizes."""
        for point in self.points:
            if point.size == size:
                return point.band
        for left, right in pairwise(self.points):
            if left.size < size < right.size:
                share = math.log(size / left.size) / math.log(right.size / left.size)
                pairs = zip(left.band, right.band, strict=True)
                return Band(*((1 - share) * one + share * other for one, other in pairs))
        return None


@dataclass(frozen=True)
class Region:
    """Sizes from ``start`` to ``end``, and the models that may be best there.

    A single name is clearly best. Several names do not differ clearly: they may be best in the whole region,
    and those of ``others`` in parts of it. If fewer than two may be best everywhere, all are in ``names``.
    ``crossings`` are the sizes within the region where another model gets the highest mean.
    """

    start: float
    end: float
    names: tuple[str, ...]
    others: tuple[str, ...] = ()
    crossings: tuple[float, ...] = ()

    @property
    def clear(self) -> bool:
        """Whether one model is clearly best."""
        return len(self.names) == 1


def best_regions(curves: Sequence[ScoreCurve]) -> list[Region]:
    """Return the regions in order: neighbours differ in the model that is best, or in being clear.

    The names of curves must differ.
    """
    groups: list[list[Region]] = []
    for start, end in pairwise(_bounds(curves)):
        region = Region(start, end, best_at(curves, math.sqrt(start * end)))  # no order changes in between
        last = groups[-1][-1] if groups else None
        if last is not None and last.end == start and _alike(last, region):
            groups[-1].append(region)
        elif region.names:
            groups.append([region])
    return [_joined(group) for group in groups]


def _alike(one: Region, other: Region) -> bool:
    """Return whether two neighbours are one region: neither is clear, or both for the same model."""
    unclear = min(len(one.names), len(other.names)) > 1
    return unclear or (one.clear and one.names == other.names)


def _joined(parts: Sequence[Region]) -> Region:
    """Return a region that consists of parts, in each of which no order changes."""
    every = tuple(dict.fromkeys(name for part in parts for name in part.names))
    always = tuple(name for name in every if all(name in part.names for part in parts))
    names = always if len(always) > 1 or len(every) == 1 else every
    return Region(
        start=parts[0].start,
        end=parts[-1].end,
        names=names,
        others=tuple(name for name in every if name not in names),
        crossings=tuple(right.start for left, right in pairwise(parts) if left.names[0] != right.names[0]),
    )


def best_at(curves: Sequence[ScoreCurve], size: float) -> tuple[str, ...]:
    """Return the models that may be best at a size: the best mean first. A single one is clearly best."""
    bands = {curve.name: band for curve in curves if (band := curve.at(size)) is not None}
    if not bands:
        return ()
    leader = max(bands, key=lambda name: bands[name].mean)
    others = (name for name in bands if name != leader and bands[name].high >= bands[leader].low)
    return (leader, *others)


def reached_from(curves: Sequence[ScoreCurve], score: float) -> tuple[float, str] | None:
    """Return the size from which on the highest mean is at least ``score``, and the model that has it there.

    None: at the largest size, all means are lower.
    """
    measured = sorted({point.size for curve in curves for point in curve.points})
    level = ScoreCurve("", tuple(ScorePoint(size, score) for size in measured))
    sizes = _bounds([*curves, level])
    found = None
    for start, size in reversed([*pairwise([sizes[0], *sizes])] if sizes else []):
        best = _highest(curves, size)
        if best is None or best[0] < score - ROUNDING:
            return found
        found = (size, best[1])
        between = _highest(curves, math.sqrt(start * size))
        if between is None or between[0] < score - ROUNDING:
            return found
    return found


def _highest(curves: Sequence[ScoreCurve], size: float) -> tuple[float, str] | None:
    """Return the highest mean at a size and the first model that has it."""
    means = [(band.mean, curve.name) for curve in curves if (band := curve.at(size)) is not None]
    return max(means, key=lambda pair: pair[0], default=None)


def _bounds(curves: Sequence[ScoreCurve]) -> list[float]:
    """Return all measured sizes, and those at which two means cross or two intervals begin to overlap."""
    sizes = sorted({point.size for curve in curves for point in curve.points})
    bounds = set(sizes)
    for start, end in pairwise(sizes):
        ends = [(curve.at(start), curve.at(end)) for curve in curves]
        known = [(one, other) for one, other in ends if one is not None and other is not None]
        shares = [*_mean_crossings(known), *_band_crossings(known)]
        inside = (start * (end / start) ** share for share in shares)
        bounds |= {size for size in inside if start < size < end}
    return sorted(bounds)


Ends = Sequence[tuple[Band, Band]]
"""The bands of models at the two ends of an interval."""


def _mean_crossings(ends: Ends) -> Iterator[float]:
    for (one, one_end), (other, other_end) in combinations(ends, 2):
        yield from _crossing(one.mean - other.mean, one_end.mean - other_end.mean)


def _band_crossings(ends: Ends) -> Iterator[float]:
    for (one, one_end), (other, other_end) in permutations(ends, 2):
        yield from _crossing(one.low - other.high, one_end.low - other_end.high)


def _crossing(before: float, after: float) -> Iterator[float]:
    """Yield the share of the way at which a difference becomes 0, if it changes its sign."""
    if before * after < 0:
        yield before / (before - after)
