"""Compares the convolution with a loop over windows."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
import torch
from numpy.typing import NDArray
from torch import nn

from gonie.errors import InputError
from gonie.nn import Convolution, Max

LENGTHS = [7, 1, 3]


def naive(part: Convolution, x: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the states (T, H) of one sentence (T, D)."""
    states = []
    for t in range(len(x)):
        found = []
        for kernel, filters in zip(part.kernels, part.filters, strict=True):
            weight, total = filters.weight.detach().numpy(), filters.bias.detach().numpy().copy()
            for place in range(kernel):
                at = t - (kernel - 1) // 2 + place
                if 0 <= at < len(x):
                    total += weight[:, :, place] @ x[at]
            found.append(np.maximum(total, 0.0))
        states.append(np.concatenate(found))
    return np.stack(states)


@pytest.mark.parametrize("kernels", [(3, 4, 5), (1,), (2, 2), (9, 1)])
def test_states_equal_the_naive_loop(
    kernels: tuple[int, ...], scramble: Callable[[nn.Module], nn.Module], device: str
) -> None:
    """This includes sentences shorter than the kernel, with arbitrary values in the padding."""
    part = scramble(Convolution(width=3, hidden=4, kernels=kernels)).double()
    assert isinstance(part, Convolution)
    x = torch.randn(len(LENGTHS), max(LENGTHS), 3, dtype=torch.float64)
    mask = torch.arange(max(LENGTHS)) < torch.tensor(LENGTHS).unsqueeze(1)
    expected = [naive(part, x[row, :length].numpy()) for row, length in enumerate(LENGTHS)]
    states = part.to(device)(x.to(device), mask.to(device)).detach().cpu().numpy()
    for row, length in enumerate(LENGTHS):
        np.testing.assert_allclose(states[row, :length], expected[row], rtol=1e-12, atol=1e-12)


def test_gradients_equal_numerical_ones(scramble: Callable[[nn.Module], nn.Module]) -> None:
    part = scramble(Convolution(width=3, hidden=2, kernels=(2, 3))).double()
    names = [name for name, _ in part.named_parameters()]
    x = torch.randn(2, 4, 3, dtype=torch.float64, requires_grad=True)
    mask = torch.tensor([[True] * 4, [True] * 2 + [False] * 2])

    def states(x: torch.Tensor, *weights: torch.Tensor) -> torch.Tensor:
        return torch.func.functional_call(part, dict(zip(names, weights, strict=True)), (x, mask))

    weights = [weight.detach().clone().requires_grad_() for weight in part.parameters()]
    assert torch.autograd.gradcheck(states, (x, *weights))


def test_dropout_before_max_pooling_equals_dropout_after_it() -> None:
    """As in Kim (2014), a feature is dropped or scaled for the whole sentence."""
    part, pooling = Convolution(width=3, hidden=40, dropout=0.5), Max(width=120)
    x, mask = torch.randn(2, 6, 3), torch.ones(2, 6, dtype=torch.bool)
    plain, _ = pooling(part.eval()(x, mask), mask)
    dropped, _ = pooling(part.train()(x, mask), mask)
    kept = dropped != 0
    torch.testing.assert_close(dropped[kept], 2 * plain[kept])
    assert 0 < int(kept.sum()) < int((plain != 0).sum())


@pytest.mark.parametrize("kernels", [(), (0,), (3, -1)])
def test_empty_or_non_positive_kernels_are_refused(kernels: tuple[int, ...]) -> None:
    with pytest.raises(InputError, match="invalid kernels"):
        Convolution(width=3, hidden=2, kernels=kernels)


def test_a_dropout_rate_of_1_is_refused() -> None:
    with pytest.raises(InputError, match="below 1"):
        Convolution(width=2, hidden=2, dropout=1.0)
