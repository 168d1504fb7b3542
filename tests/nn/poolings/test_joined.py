"""Tests joined poolings: the order of their parts, and parts that do not fit together."""

from __future__ import annotations

import pytest
import torch

from gonie.errors import InputError
from gonie.nn import Joined, Last, Max, Mean


def test_parts_are_concatenated_in_order_and_their_weights_are_averaged() -> None:
    x, mask = torch.randn(2, 4, 3), torch.arange(4) < torch.tensor([[4], [2]])
    parts = [Mean(width=3), Max(width=3), Last(width=3)]
    vectors, weights = Joined(parts)(x, mask)
    for place, part in enumerate(parts):
        assert torch.equal(vectors[:, 3 * place : 3 * place + 3], part(x, mask)[0])
    torch.testing.assert_close(weights, sum(part(x, mask)[1] for part in parts) / 3)


def test_no_parts_or_different_widths_are_refused() -> None:
    with pytest.raises(InputError, match="no poolings"):
        Joined([])
    with pytest.raises(InputError, match=r"same width: \[3, 4\]"):
        Joined([Mean(width=3), Max(width=4)])
