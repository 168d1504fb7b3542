"""Compares the LSTM layer with torch's packed sequences."""

from __future__ import annotations

import torch
from torch import nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

from gonie.nn import LSTM, Bidirectional


def test_bidirectional_states_equal_those_of_torch_packed_sequences() -> None:
    part = Bidirectional(ahead=LSTM(width=5, hidden=4), back=LSTM(width=5, hidden=4))
    packed = nn.LSTM(5, 4, batch_first=True, bidirectional=True)
    weights = {f"{name}{suffix}": value for layer, suffix in ((part.ahead, ""), (part.back, "_reverse"))
               for name, value in layer.lstm.state_dict().items()}  # fmt: skip
    packed.load_state_dict(weights)
    lengths = torch.tensor([6, 1, 4])
    x, mask = torch.randn(3, 6, 5), torch.arange(6) < lengths.unsqueeze(1)
    expected, _ = packed(pack_padded_sequence(x, lengths, batch_first=True, enforce_sorted=False))
    torch.testing.assert_close(part(x, mask), pad_packed_sequence(expected, batch_first=True)[0])


def test_initial_forget_bias_is_1_and_recurrent_weights_are_orthogonal() -> None:
    weights = LSTM(width=5, hidden=4).lstm.state_dict()
    bias = (weights["bias_ih_l0"] + weights["bias_hh_l0"]).view(4, 4)
    assert bias.tolist() == [[0.0] * 4, [1.0] * 4, [0.0] * 4, [0.0] * 4]
    for block in weights["weight_hh_l0"].chunk(4):
        torch.testing.assert_close(block @ block.t(), torch.eye(4), atol=1e-5, rtol=0)
