"""Tests adapters: they start as the identity, and are a small residual network around an encoder."""

from __future__ import annotations

import torch

from gonie.nn import LSTM, Adapted, Adapter


def test_a_new_adapter_is_the_identity() -> None:
    x = torch.randn(2, 3, 6)
    assert torch.equal(Adapter(width=6, hidden=2)(x), x)


def test_an_adapter_equals_its_formula_token_by_token() -> None:
    part = Adapter(width=4, hidden=2)
    with torch.no_grad():
        for weight in part.parameters():
            weight.normal_()
    x = torch.randn(1, 3, 4)
    found, (down, down_bias, up, up_bias) = part(x), (weight.detach() for weight in part.parameters())
    for t in range(3):
        narrow = [max(0.0, float(row @ x[0, t] + b)) for row, b in zip(down, down_bias, strict=True)]
        torch.testing.assert_close(found[0, t].detach(), x[0, t] + up @ torch.tensor(narrow) + up_bias)


def test_a_new_adapted_encoder_returns_the_states_of_its_encoder() -> None:
    encoder = LSTM(width=5, hidden=4)
    part = Adapted(encoder=encoder, hidden=3)
    x, mask = torch.randn(2, 3, 5), torch.tensor([[True, True, True], [True, False, False]])
    assert torch.equal(part(x, mask), encoder(x, mask))
    assert (part.input_width, part.width) == (5, 4)
