"""Tests dropout over sequences: what is dropped together, and that evaluation drops nothing."""

from __future__ import annotations

import pytest
import torch
from torch import nn

from gonie.errors import InputError
from gonie.nn import VariationalDropout, WordDropout

BOTH = [VariationalDropout, WordDropout]


def test_variational_dropout_drops_the_same_features_at_every_token(device: str) -> None:
    dropped = VariationalDropout(0.4)(torch.ones(50, 7, 20, device=device))
    assert torch.equal(dropped, dropped[:, :1].expand_as(dropped))
    assert not torch.equal(dropped[0], dropped[1])  # each sentence has its own mask
    assert set(dropped.unique().tolist()) == {0.0, torch.tensor(1 / 0.6).item()}


def test_variational_dropout_preserves_the_mean() -> None:
    x = 1 + torch.rand(400, 3, 100)
    assert VariationalDropout(0.3)(x).mean().item() == pytest.approx(x.mean().item(), rel=0.02)


def test_word_dropout_drops_whole_tokens_and_keeps_the_others() -> None:
    x = torch.rand(100, 30, 8) + 1
    y = WordDropout(0.2)(x)
    gone = (y == 0).all(2)
    assert torch.equal(y[~gone], x[~gone])
    assert gone.float().mean().item() == pytest.approx(0.2, abs=0.03)


@pytest.mark.parametrize("kind", BOTH)
def test_evaluation_and_rate_zero_change_nothing(kind: type[nn.Module]) -> None:
    x = torch.rand(3, 4, 5)
    assert torch.equal(kind(0.5).eval()(x), x)
    assert torch.equal(kind(0.0).train()(x), x)


@pytest.mark.parametrize("kind", BOTH)
@pytest.mark.parametrize("rate", [-0.1, 1.0, 5])
def test_an_invalid_rate_is_refused(kind: type[nn.Module], rate: float) -> None:
    with pytest.raises(InputError, match="at least 0 and below 1"):
        kind(rate)
