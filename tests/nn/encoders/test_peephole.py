"""Compares the peephole LSTM with a plain LSTM, and tests which cell the output gate reads."""

from __future__ import annotations

import torch

from gonie.nn import LSTM, PeepholeLSTM


def test_with_zero_peepholes_states_equal_a_plain_lstm() -> None:
    peephole, lstm = PeepholeLSTM(width=5, hidden=4), LSTM(width=5, hidden=4)
    with torch.no_grad():
        for name, weight in (
            ("weight_ih", "weight_ih_l0"),
            ("weight_hh", "weight_hh_l0"),
            ("bias", "bias_ih_l0"),
        ):
            getattr(peephole, name).copy_(getattr(lstm.lstm, weight))
    x, mask = torch.randn(3, 6, 5), torch.ones(3, 6, dtype=torch.bool)
    torch.testing.assert_close(peephole(x, mask), lstm(x, mask))


def test_the_output_gate_reads_the_new_cell() -> None:
    """The initial cell is zero, so only the output peephole has an effect at the first token."""
    part, x, mask = PeepholeLSTM(width=5, hidden=4), torch.randn(2, 1, 5), torch.ones(2, 1, dtype=torch.bool)
    plain = part(x, mask)
    with torch.no_grad():
        part.peepholes[:2] = 3.0
    assert torch.equal(part(x, mask), plain)
    with torch.no_grad():
        part.peepholes[2] = 3.0
    assert not torch.allclose(part(x, mask), plain)


def test_gradients_can_be_computed_inside_autocast() -> None:
    """In bf16 training, the hand-written loops must not fail, and must sum in float32."""
    part, x, mask = PeepholeLSTM(width=5, hidden=4), torch.randn(2, 3, 5), torch.ones(2, 3, dtype=torch.bool)
    with torch.autocast("cpu", dtype=torch.bfloat16):
        states = part(x, mask)
        states.sum().backward()
    assert states.dtype == torch.float32
    assert part.weight_hh.grad is not None
    torch.testing.assert_close(states, part(x, mask), atol=0.02, rtol=0.02)
