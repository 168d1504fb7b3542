"""Tests the differentiable marginals of a chain against enumeration and finite differences."""

from __future__ import annotations

import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor

from gonie.nn.crf import brute_force
from gonie.nn.crf.chain import Chain
from gonie.nn.crf.layer import CRF
from gonie.nn.crf.log_marginals import log_marginals


def drawn(tags: int, lengths: list[int], seed: int) -> tuple[Tensor, Tensor, Chain]:
    generator = torch.Generator().manual_seed(seed)

    def normal(*shape: int) -> Tensor:
        return torch.randn(shape, dtype=torch.float64, generator=generator)

    mask = torch.arange(max(lengths)) < torch.tensor(lengths)[:, None]
    return normal(*mask.shape, tags), mask, Chain(normal(tags, tags), normal(tags), normal(tags))


@given(
    tags=st.integers(1, 3),
    lengths=st.lists(st.integers(1, 4), min_size=1, max_size=3),
    seed=st.integers(0, 99),
)
@settings(max_examples=25, deadline=None)
def test_marginals_equal_those_of_all_paths(tags: int, lengths: list[int], seed: int) -> None:
    emissions, mask, chain = drawn(tags, lengths, seed)
    found = log_marginals(emissions, mask, chain).exp()
    for row, length in enumerate(lengths):
        wanted = brute_force.marginals(emissions[row, :length], chain)
        torch.testing.assert_close(found[row, :length], wanted)


def test_the_gradient_equals_finite_differences() -> None:
    emissions, mask, chain = drawn(3, [4, 2], seed=5)
    inputs = [part.requires_grad_() for part in (emissions, *chain)]

    def inside(emissions: Tensor, *parts: Tensor) -> Tensor:
        return log_marginals(emissions, mask, Chain(*parts))[mask]

    assert torch.autograd.gradcheck(inside, inputs)


def test_impossible_tags_have_probability_0_and_finite_gradients() -> None:
    emissions, mask, chain = drawn(3, [3], seed=2)
    emissions[0, 1, 0] = -torch.inf
    transitions = chain.transitions.clone()
    transitions[1, 2] = -torch.inf
    emissions.requires_grad_()
    chain = Chain(transitions.requires_grad_(), chain.start, chain.end)
    found = log_marginals(emissions, mask, chain)
    assert found[0, 1, 0].exp() == 0
    torch.testing.assert_close(found.exp()[0], brute_force.marginals(emissions[0].detach(), chain).detach())
    found[0, :, 1:].sum().backward()
    assert torch.isfinite(emissions.grad).all()  # type: ignore[arg-type]
    assert torch.isfinite(transitions.grad).all()  # type: ignore[arg-type]


def test_marginals_equal_those_of_the_layer() -> None:
    emissions, mask, chain = drawn(4, [5, 3, 1], seed=7)
    crf = CRF(4).double()
    for own, part in zip(crf.chain(), chain, strict=True):
        own.data.copy_(part)
    torch.testing.assert_close(
        log_marginals(emissions, mask, chain).exp()[mask], crf.marginals(emissions, mask)[mask]
    )
