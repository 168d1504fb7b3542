"""Compares batch normalisation with torch's, and tests a batch of one, which torch refuses in training."""

from __future__ import annotations

import torch
from torch import nn

from gonie.nn import BatchNorm
from gonie.nn.batch_norm import averages_kept


def test_results_equal_torch_in_training_and_evaluation() -> None:
    ours, torchs = BatchNorm(width=4), nn.BatchNorm1d(4)
    for _ in range(3):
        x = 3 * torch.randn(6, 4) + 1
        torch.testing.assert_close(ours(x), torchs(x))
    torch.testing.assert_close(ours.eval()(x), torchs.eval()(x))


def test_averages_can_be_kept_for_passes_over_other_texts() -> None:
    """The results are those of training, and the averages move again after the block."""
    part = BatchNorm(width=4)
    other = nn.Sequential(nn.Identity(), part)
    x = torch.randn(6, 4)
    wanted, averages = BatchNorm(width=4)(x), (part.mean.clone(), part.variance.clone())
    with averages_kept(other):
        assert torch.equal(other(x), wanted)
    assert torch.equal(part.mean, averages[0])
    assert torch.equal(part.variance, averages[1])
    part(x)
    assert not torch.equal(part.mean, averages[0])


def test_training_accepts_a_batch_of_one() -> None:
    """The last batch of an epoch may be a single text. It must not fail, give NaN or change the averages."""
    part = BatchNorm(width=4)
    part(torch.randn(6, 4))
    averages = part.mean.clone()
    x = torch.randn(1, 4, requires_grad=True)
    part(x).sum().backward()
    assert x.grad is not None
    assert x.grad.abs().min() > 0
    assert torch.equal(part.mean, averages)
    assert torch.equal(part(x), part.eval()(x))
