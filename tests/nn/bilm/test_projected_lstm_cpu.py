"""Compares the CPU inference of the projected LSTM with the training implementation."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch
from torch import nn

from gonie.nn.bilm import ProjectedLSTM, projected_lstm_cpu


@pytest.mark.parametrize("cells", [1, 5, 6, 2048])
@pytest.mark.parametrize("rows", [1, 3])
def test_inference_equals_training_for_any_chunk_size(
    rows: int, cells: int, scramble: Callable[[nn.Module], nn.Module], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(projected_lstm_cpu, "INPUTS_AT_ONCE", cells)
    part = scramble(ProjectedLSTM(width=4, hidden=6))
    x = torch.randn(7, rows, 4)
    expected = part(x, part.start(x))
    with torch.no_grad():
        torch.testing.assert_close(part(x, part.start(x)), expected)


def test_autocast_does_not_change_the_states(scramble: Callable[[nn.Module], nn.Module]) -> None:
    part = scramble(ProjectedLSTM(width=4, hidden=6))
    x = torch.randn(3, 2, 4)
    with torch.no_grad():
        expected, _ = part(x, part.start(x))
        with torch.autocast("cpu", dtype=torch.bfloat16):
            states, _ = part(x, part.start(x))
    assert torch.equal(states, expected)


def test_large_cells_do_not_overflow(scramble: Callable[[nn.Module], nn.Module]) -> None:
    """tanh is computed from a sigmoid, which must not overflow."""
    part = scramble(ProjectedLSTM(width=4, hidden=6))
    x = 1e4 * torch.randn(5, 2, 4)
    h, c = torch.zeros(2, 4), 1e4 * torch.randn(2, 6)
    expected = part(x, (h, c))
    with torch.no_grad():
        torch.testing.assert_close(part(x, (h, c)), expected)
