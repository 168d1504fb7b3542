"""Tests which model is best from which size on, against a reference that looks at many sizes one by one."""

from __future__ import annotations

import math
from itertools import pairwise

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from gonie.metrics.score_curves import Band, Region, ScoreCurve, ScorePoint, best_regions, reached_from

SIZES = (10, 40, 100, 1000)
SCORES = st.integers(0, 20).map(lambda score: score / 20)
SPREADS = st.one_of(st.none(), st.integers(0, 4).map(lambda spread: spread / 20))


def curve(name: str, *scores: float, sd: float | None = None, sizes: tuple[int, ...] = SIZES) -> ScoreCurve:
    return ScoreCurve(name, tuple(ScorePoint(*each, sd) for each in zip(sizes, scores, strict=False)))


@st.composite
def curves(draw: st.DrawFn) -> list[ScoreCurve]:
    found = []
    for number in range(draw(st.integers(1, 4))):
        sizes = sorted(draw(st.sets(st.sampled_from(SIZES), min_size=1)))
        points = (ScorePoint(size, draw(SCORES), draw(SPREADS)) for size in sizes)
        found.append(ScoreCurve(f"m{number}", tuple(points)))
    return found


def reference(curves: list[ScoreCurve], size: float) -> tuple[str, set[str]]:
    """Return the best model at one size, and all that may be best, by drawing every line anew."""
    bands = {}
    for each in curves:
        for left, right in pairwise(each.points):
            if left.size <= size <= right.size:
                share = (math.log10(size) - math.log10(left.size)) / math.log10(right.size / left.size)
                mean = left.mean + share * (right.mean - left.mean)
                spread = (left.sd or 0) + share * ((right.sd or 0) - (left.sd or 0))
                bands[each.name] = (mean, mean - spread, mean + spread)
    if not bands:
        return "", set()
    best = max(bands, key=lambda name: bands[name][0])
    return best, {name for name, band in bands.items() if band[2] >= bands[best][1]}


@given(curves(), st.floats(10, 1000))
def test_regions_agree_with_the_reference_at_any_size(curves: list[ScoreCurve], size: float) -> None:
    regions = best_regions(curves)
    edges = [*SIZES, *(edge for each in regions for edge in (each.start, each.end, *each.crossings))]
    assume(all(abs(math.log(size / edge)) > 1e-6 for edge in edges))
    here = [region for region in regions if region.start < size < region.end]
    best, possible = reference(curves, size)
    assert len(here) == bool(possible)
    if here and here[0].clear:
        assert (here[0].names, possible) == ((best,), {best})
    elif here:
        # touching intervals, as those of equal scores, may differ by rounding
        assert possible - {best} <= {*here[0].names, *here[0].others}
        if not here[0].crossings and here[0].others:
            assert set(here[0].names) <= possible | {best}


@given(curves())
def test_regions_are_in_order_and_neighbours_differ(curves: list[ScoreCurve]) -> None:
    regions = best_regions(curves)
    for one, other in pairwise(regions):
        assert one.end <= other.start
        if one.end == other.start:
            assert one.clear or other.clear
            assert one.names != other.names
    for region in regions:
        assert region.start < region.end
        assert all(region.start < size < region.end for size in region.crossings)
        assert not (region.clear and region.crossings)


@given(curves(), st.floats(0.1, 3))
def test_a_clear_winner_stays_when_all_scores_are_scaled(curves: list[ScoreCurve], factor: float) -> None:
    scaled = [
        ScoreCurve(
            each.name,
            tuple(ScorePoint(p.size, p.mean * factor, p.sd and p.sd * factor) for p in each.points),
        )
        for each in curves
    ]
    ours = [r for r in best_regions(curves) if r.end > r.start * 1.001]
    others = [r for r in best_regions(scaled) if r.end > r.start * 1.001]
    assert [r.start for r in ours] == pytest.approx([r.start for r in others])


def test_two_lines_cross_where_they_meet_on_the_logarithmic_axis() -> None:
    """From 10 to 1000, one falls from 0.6 to 0.4 and the other rises from 0.4 to 0.6: they meet at 100."""
    one = curve("one", 0.6, 0.4, sizes=(10, 1000))
    other = curve("other", 0.4, 0.6, sizes=(10, 1000))
    first, second = best_regions([one, other])
    assert (first.names, second.names) == (("one",), ("other",))
    assert first.end == second.start == pytest.approx(100)


def test_between_overlapping_intervals_there_is_no_clear_difference() -> None:
    one = curve("one", 0.6, 0.4, sd=0.05, sizes=(10, 1000))
    other = curve("other", 0.4, 0.6, sd=0.05, sizes=(10, 1000))
    first, middle, last = best_regions([one, other])
    assert (first.names, middle.names, last.names) == (("one",), ("one", "other"), ("other",))
    assert middle.start == pytest.approx(10 * 100**0.25)
    assert middle.end == pytest.approx(10 * 100**0.75)
    assert middle.crossings == (pytest.approx(100),)


def test_equal_models_do_not_differ_clearly() -> None:
    (region,) = best_regions([curve("a", 0.5, 0.6, 0.7, 0.8), curve("b", 0.5, 0.6, 0.7, 0.8)])
    assert region == Region(10, 1000, ("a", "b"))


def test_models_that_may_be_best_in_a_part_only_are_named_apart() -> None:
    """The third one is as good as the others at 10, and then falls behind."""
    lines = [curve(name, 0.5, 0.5, 0.5, 0.5, sd=0.1) for name in ("a", "b")]
    (region,) = best_regions([*lines, curve("c", 0.5, 0.1, 0.1, 0.1, sd=0.1)])
    assert (region.names, region.others) == (("a", "b"), ("c",))
    ladder = [
        curve("a", 0.9, 0.9, 0.1, 0.1, sd=0.2),
        curve("b", 0.9, 0.9, 0.9, 0.9, sd=0.2),
        curve("c", 0.1, 0.1, 0.9, 0.9, sd=0.2),
    ]
    (region,) = best_regions(ladder)
    assert (set(region.names), region.others) == ({"a", "b", "c"}, ())


def test_a_model_counts_only_where_it_was_measured() -> None:
    late = curve("late", 0.9, 0.9, sizes=(100, 1000))
    first, second = best_regions([curve("always", 0.1, 0.2, 0.3, 0.4), late])
    assert (first.names, first.end) == (("always",), 100)
    assert (second.names, second.start) == (("late",), 100)


@given(curves(), SCORES)
def test_a_score_is_reached_from_the_first_size_after_which_one_mean_is_always_as_high(
    curves: list[ScoreCurve], score: float
) -> None:
    """The reference looks at many sizes one by one, from the largest down."""

    def best(size: float) -> float:
        return max((band.mean for curve in curves if (band := curve.at(size)) is not None), default=-1)

    found = reached_from(curves, score)
    measured = sorted({point.size for curve in curves for point in curve.points})
    if found is None:
        assert best(measured[-1]) < score
        return
    size, name = found
    own = {curve.name: curve for curve in curves}[name].at(size)
    assert own is not None
    assert own.mean == pytest.approx(best(size))
    assert own.mean >= score - 1e-9
    later = (size * (measured[-1] / size) ** (step / 50) for step in range(1, 50))
    assert all(best(each) >= score - 1e-9 for each in later)
    before = size / 1.0001
    assert size == measured[0] or best(before) < score or best(math.sqrt(before * size)) < score


def test_a_level_is_reached_between_two_sizes_and_kept() -> None:
    """One rises from 0.2 to 0.8 between 10 and 1000, and reaches 0.5 at 100."""
    one = curve("one", 0.2, 0.8, sizes=(10, 1000))
    assert reached_from([one], 0.5) == (pytest.approx(100), "one")
    assert reached_from([one], 0.2) == (10, "one")
    assert reached_from([one], 0.9) is None
    assert reached_from([curve("down", 0.9, 0.1, 0.3, 0.4)], 0.35) == (pytest.approx(100 * 10**0.5), "down")
    assert reached_from([], 0.5) is None


def test_outside_of_the_measured_sizes_there_is_no_score() -> None:
    one = curve("one", 0.2, 0.4, sd=0.1, sizes=(10, 1000))
    assert one.at(9) is None
    assert one.at(1001) is None
    assert one.at(10) == Band(0.2, pytest.approx(0.1), pytest.approx(0.3))
    assert one.at(100) == pytest.approx((0.3, 0.2, 0.4))


def test_one_size_alone_has_no_regions() -> None:
    assert best_regions([ScoreCurve("one", (ScorePoint(20, 0.5),))]) == []
