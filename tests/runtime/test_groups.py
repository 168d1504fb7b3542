"""If these fail, predictions wait for the end of the input, or texts are lost."""

from __future__ import annotations

from collections.abc import Iterator

from hypothesis import given
from hypothesis import strategies as st

from gonie.runtime.groups import FIRST, MOST, grouped


@given(st.lists(st.integers(0, 3 * FIRST), max_size=200))
def test_no_items_are_lost_and_groups_grow(sizes: list[int]) -> None:
    groups = list(grouped(sizes, lambda size: size))
    assert [size for group in groups for size in group] == sizes
    assert all(groups)
    limits = [min(FIRST * 2**number, MOST) for number in range(len(groups))]
    for group, limit in zip(groups, limits, strict=True):
        assert sum(group[:-1]) < limit


def test_the_first_group_comes_before_the_rest_is_read() -> None:
    """A user who pipes a log into `gonie tag` sees the first lines at once."""
    taken: list[int] = []

    def endless() -> Iterator[int]:
        while True:
            taken.append(FIRST)
            yield FIRST

    assert next(grouped(endless(), lambda size: size)) == [FIRST]
    assert len(taken) == 1


def test_a_large_first_limit_gives_large_groups() -> None:
    """Small groups mix long and short sentences, which costs padding."""
    assert list(grouped([FIRST] * 5, lambda size: size, first=MOST)) == [[FIRST] * 5]
