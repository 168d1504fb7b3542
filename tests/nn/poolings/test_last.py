"""Tests pooling by the last state: each direction ends at its own last token, before any padding."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch
from torch import nn

from gonie.errors import InputError
from gonie.nn import LSTM, Bidirectional, Last


def test_both_ways_uses_the_states_that_have_read_the_whole_row(
    scramble: Callable[[nn.Module], nn.Module],
) -> None:
    """A change of any token must change both halves. At its other end, a direction has read one token."""
    encoder = scramble(Bidirectional(ahead=LSTM(width=3, hidden=2), back=LSTM(width=3, hidden=2)))
    pooling, mask = Last(width=4, both_ways=True), torch.arange(6).unsqueeze(0) < 4
    x = torch.randn(1, 6, 3)
    before, weights = pooling(encoder(x, mask), mask)
    assert weights.tolist() == [[0.5, 0.0, 0.0, 0.5, 0.0, 0.0]]
    for t in range(4):
        changed = x.clone()
        changed[0, t] += 1.0
        after, _ = pooling(encoder(changed, mask), mask)
        assert (after != before).all()


def test_one_way_takes_the_last_real_token() -> None:
    x = torch.arange(12.0).view(2, 3, 2)
    vectors, weights = Last(width=2)(x, torch.tensor([[True, True, False], [True, True, True]]))
    assert vectors.tolist() == [[2.0, 3.0], [10.0, 11.0]]
    assert weights.tolist() == [[0.0, 1.0, 0.0], [0.0, 0.0, 1.0]]


def test_an_odd_width_is_refused_with_both_ways() -> None:
    with pytest.raises(InputError, match="must be even"):
        Last(width=5, both_ways=True)
