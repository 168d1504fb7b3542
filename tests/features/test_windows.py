"""Tests windows over long sentences: each token is kept once, with context on both sides."""

from __future__ import annotations

from itertools import pairwise

from hypothesis import given, settings
from hypothesis import strategies as st

from gonie.features.windows import clip_windows, cut_windows


@settings(deadline=None, max_examples=200)
@given(st.integers(1, 3000), st.integers(2, 600), st.data())
def test_each_token_is_kept_once(length: int, width: int, data: st.DataObject) -> None:
    """A token kept twice or never would shift every tag after it."""
    overlap = data.draw(st.integers(0, width - 1))
    windows = cut_windows(length, width=width, overlap=overlap)
    kept = [token for w in windows for token in range(w.first, w.last)]
    assert kept == list(range(length))
    assert all(w.start <= w.first < w.last <= w.end <= w.start + width for w in windows)


@settings(deadline=None, max_examples=100)
@given(st.integers(1001, 5000))
def test_a_kept_token_has_half_an_overlap_of_context(length: int) -> None:
    """Without context on both sides, entities at a boundary would be guessed."""
    windows = cut_windows(length, width=512, overlap=128)
    assert len(windows) > 1
    for before, after in pairwise(windows):
        assert before.end - before.last >= 63
        assert after.first - after.start >= 64


@settings(deadline=None, max_examples=200)
@given(st.integers(1, 3000), st.data())
def test_a_range_gets_the_windows_that_keep_its_tokens(length: int, data: st.DataObject) -> None:
    """From another window, a token could get other tags than in the whole sentence."""
    start = data.draw(st.integers(0, length - 1))
    end = data.draw(st.integers(start + 1, length))
    windows = cut_windows(length, width=50, overlap=10)
    owners = {token: w.start for w in windows for token in range(w.first, w.last)}
    found = clip_windows(windows, start, end)
    kept = {token: w.start for w in found for token in range(w.first, w.last)}
    assert list(kept) == list(range(start, end))
    assert kept == {token: owners[token] for token in kept}
    assert all(w.first < w.last for w in found)
