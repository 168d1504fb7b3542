"""Tests combined layers: layers that do not fit are refused at construction, not during training."""

from __future__ import annotations

import pytest
import torch
from torch import nn

from gonie.errors import InputError
from gonie.nn import LSTM, Bidirectional, Deep, Elman


def test_directions_of_different_input_widths_are_refused() -> None:
    with pytest.raises(InputError, match="same width: 5 ahead, 6 back"):
        Bidirectional(ahead=LSTM(width=5, hidden=2), back=LSTM(width=6, hidden=2))


def test_layers_of_different_widths_are_refused_by_number() -> None:
    with pytest.raises(InputError, match=r"layer 2 to take width 2, .* got 3"):
        Deep(layers=[LSTM(width=5, hidden=2), LSTM(width=3, hidden=2)])


def test_no_layers_are_refused() -> None:
    with pytest.raises(InputError, match="NoEncoder"):
        Deep(layers=[])


def test_dropout_applies_between_layers_only() -> None:
    class Count(nn.Module):
        calls = 0

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            self.calls += 1
            return x

    count = Count()
    mask = torch.ones(1, 2, dtype=torch.bool)
    for depth in (1, 3):
        count.calls = 0
        Deep(layers=[Elman(width=2, hidden=2) for _ in range(depth)], dropout=count)(
            torch.randn(1, 2, 2), mask
        )
        assert count.calls == depth - 1
