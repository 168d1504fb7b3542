"""Compares every pooling with its formula, computed token by token in numpy, on rows of any length.

If one of these fails, the network differs from the paper and the documentation.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from torch import nn

from gonie.nn import AdditiveAttention, DotAttention, Joined, Last, Max, Mean, Normalized

Array = NDArray[np.float64]
WIDTH = 4


def values(part: nn.Module) -> dict[str, Array]:
    return {name: value.detach().numpy() for name, value in part.named_parameters()}


def softmax(scores: list[float]) -> Array:
    powers = np.exp(np.array(scores) - max(scores))
    return powers / powers.sum()


def weighed(x: Array, heads: list[Array]) -> tuple[Array, Array]:
    vectors = [sum(weight * ht for weight, ht in zip(weights, x, strict=True)) for weights in heads]
    return np.concatenate(vectors), np.mean(heads, axis=0)


def naive_attention(part: AdditiveAttention, x: Array) -> tuple[Array, Array]:
    """Return the vector (P,) and the weights (T,) of one row (T, H)."""
    w = values(part)
    hidden = [np.tanh(w["layer.weight"] @ ht + w["layer.bias"]) for ht in x]
    return weighed(x, [softmax([float(u @ query) for u in hidden]) for query in w["queries"]])


def naive_dot(part: DotAttention, x: Array) -> tuple[Array, Array]:
    queries = values(part)["queries"]
    return weighed(x, [softmax([float(ht @ query) / len(query) ** 0.5 for ht in x]) for query in queries])


def naive_mean(part: Mean, x: Array) -> tuple[Array, Array]:
    return weighed(x, [np.full(len(x), 1 / len(x))])


def naive_max(part: Max, x: Array) -> tuple[Array, Array]:
    vector, weights = [], np.zeros(len(x))
    for feature in x.T:
        winners = [t for t, value in enumerate(feature) if value == max(feature)]
        vector.append(max(feature))
        weights[winners] += 1 / len(winners) / x.shape[1]
    return np.array(vector), weights


def naive_last(part: Last, x: Array) -> tuple[Array, Array]:
    weights, half = np.zeros(len(x)), x.shape[1] // 2
    if not part.both_ways:
        weights[-1] = 1.0
        return x[-1], weights
    weights[0] += 0.5
    weights[-1] += 0.5
    return np.concatenate([x[-1][:half], x[0][half:]]), weights


def naive_joined(part: Joined, x: Array) -> tuple[Array, Array]:
    vectors, weights = zip(*(naive(each, x) for each in part.parts), strict=True)
    return np.concatenate(vectors), np.mean(weights, axis=0)


def naive_normalized(part: Normalized, x: Array) -> tuple[Array, Array]:
    vector, weights = naive(part.pooling, x)
    w = values(part.norm)
    scaled = (vector - vector.mean()) / np.sqrt(vector.var() + 1e-5)
    return w["weight"] * scaled + w["bias"], weights


def naive(part: nn.Module, x: Array) -> tuple[Array, Array]:
    loops = {
        AdditiveAttention: naive_attention,
        DotAttention: naive_dot,
        Mean: naive_mean,
        Max: naive_max,
        Last: naive_last,
        Joined: naive_joined,
        Normalized: naive_normalized,
    }
    return loops[type(part)](part, x)


POOLINGS: dict[str, Callable[[], nn.Module]] = {
    "attention": lambda: AdditiveAttention(width=WIDTH, hidden=3),
    "attention_heads": lambda: AdditiveAttention(width=WIDTH, hidden=3, heads=2),
    "dot": lambda: DotAttention(width=WIDTH),
    "dot_heads": lambda: DotAttention(width=WIDTH, heads=3),
    "mean": lambda: Mean(width=WIDTH),
    "max": lambda: Max(width=WIDTH),
    "last": lambda: Last(width=WIDTH),
    "last_both_ways": lambda: Last(width=WIDTH, both_ways=True),
    "joined": lambda: Joined([DotAttention(width=WIDTH, heads=2), Max(width=WIDTH), Last(width=WIDTH)]),
    "layer_norm": lambda: Normalized(
        pooling=AdditiveAttention(width=WIDTH, hidden=3), norm=nn.LayerNorm(WIDTH)
    ),
}


@pytest.mark.parametrize("build", POOLINGS.values(), ids=POOLINGS)
@settings(deadline=None, max_examples=25)
@given(
    lengths=st.lists(st.integers(1, 6), min_size=1, max_size=4),
    seed=st.integers(0, 2**31),
    scale=st.sampled_from([0.1, 1.0, 30.0]),
    coarse=st.booleans(),
)
def test_pooling_equals_the_naive_loop(
    build: Callable[[], nn.Module], lengths: list[int], seed: int, scale: float, coarse: bool
) -> None:
    torch.manual_seed(seed)
    part = build().double()
    for weight in part.parameters():
        nn.init.normal_(weight)
    x = scale * torch.randn(len(lengths), max(lengths), WIDTH, dtype=torch.float64)
    if coarse:  # so that there are ties
        x = x.round()
    mask = torch.arange(max(lengths)) < torch.tensor(lengths).unsqueeze(1)
    vectors, weights = part(x, mask)
    for row, length in enumerate(lengths):
        vector, weight = naive(part, x[row, :length].numpy())
        np.testing.assert_allclose(vectors[row].detach().numpy(), vector, rtol=1e-9, atol=1e-9)
        np.testing.assert_allclose(weights[row, :length].detach().numpy(), weight, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("build", POOLINGS.values(), ids=POOLINGS)
def test_gradients_equal_numerical_ones(
    build: Callable[[], nn.Module], scramble: Callable[[nn.Module], nn.Module]
) -> None:
    part = scramble(build()).double()
    names = [name for name, _ in part.named_parameters()]
    x = torch.randn(2, 4, WIDTH, dtype=torch.float64, requires_grad=True)
    mask = torch.tensor([[True] * 4, [True] * 2 + [False] * 2])

    def vectors(x: torch.Tensor, *weights: torch.Tensor) -> torch.Tensor:
        found, _ = torch.func.functional_call(part, dict(zip(names, weights, strict=True)), (x, mask))
        return found

    weights = [weight.detach().clone().requires_grad_() for weight in part.parameters()]
    assert torch.autograd.gradcheck(vectors, (x, *weights))
