"""Compares the simple recurrent network with torch's, and tests that unknown activations are refused."""

from __future__ import annotations

import pytest
import torch
from torch import nn

from gonie.errors import InputError
from gonie.nn import Elman


def test_with_tanh_the_states_equal_those_of_torch() -> None:
    part, rnn = Elman(width=5, hidden=4), nn.RNN(5, 4, batch_first=True)
    with torch.no_grad():
        rnn.weight_ih_l0.copy_(part.weight_ih)
        rnn.weight_hh_l0.copy_(part.weight_hh)
        rnn.bias_ih_l0.copy_(part.bias)
        rnn.bias_hh_l0.zero_()
    x = torch.randn(3, 6, 5)
    torch.testing.assert_close(part(x, torch.ones(3, 6, dtype=torch.bool)), rnn(x)[0])


def test_an_unknown_activation_is_refused_by_name() -> None:
    with pytest.raises(InputError, match=r"unknown activation: 'relu'\. Use tanh or sigmoid"):
        Elman(width=2, hidden=2, activation="relu")  # type: ignore[arg-type]
