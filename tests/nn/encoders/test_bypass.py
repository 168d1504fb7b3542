"""Tests the bypass: its features reach the output unchanged, and the encoder does not see them."""

from __future__ import annotations

import torch

from gonie.nn import LSTM, Bypass


def test_the_encoder_reads_the_first_features_and_the_last_pass_unchanged() -> None:
    encoder = LSTM(width=3, hidden=4)
    part = Bypass(encoder=encoder, passed=2)
    assert (part.input_width, part.width) == (5, 6)
    x, mask = torch.randn(2, 4, 5), torch.tensor([[True] * 4, [True, True, False, False]])
    states = part(x, mask)
    torch.testing.assert_close(states[..., :4], encoder(x[..., :3], mask))
    assert torch.equal(states[..., 4:][mask], x[..., 3:][mask])
    other = x.clone()
    other[..., 3:] += 1.0
    assert torch.equal(part(other, mask)[..., :4], states[..., :4])
