"""If this breaks, explaining a long text fills the memory, or loses some of its words."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from gonie.explain.answers import BLOCK, in_blocks


@given(st.lists(st.integers(1, BLOCK), max_size=20))
def test_blocks_hold_everything_and_never_much_more_than_they_may(sizes: list[int]) -> None:
    blocks = list(in_blocks(iter(sizes), lambda size: size))
    assert [size for block in blocks for size in block] == sizes
    assert all(block and sum(block[:-1]) < BLOCK for block in blocks)


def test_nothing_is_read_before_it_is_asked_for() -> None:
    stream = iter([BLOCK, 1, 2])
    next(in_blocks(stream, lambda size: size))
    assert list(stream) == [1, 2]
