"""The scan where it is hardest: long sentences, forbidden moves, far-apart scores, low precision."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor

from gonie.nn.crf import brute, scan
from gonie.nn.crf.chain import Chain


def chain_of(num_tags: int, *, dtype: torch.dtype = torch.float64, scale: float = 1.0) -> Chain:
    return Chain(
        *(scale * torch.randn(*shape, dtype=dtype) for shape in ((num_tags,) * 2, (num_tags,), (num_tags,)))
    )


def learned(chain: Chain) -> Chain:
    return Chain(*(part.clone().requires_grad_() for part in chain))


def full(*shape: int) -> Tensor:
    return torch.ones(*shape, dtype=torch.bool)


def test_with_and_without_gradient_it_is_the_same_number() -> None:
    """Training runs both directions at once, evaluation only one."""
    chain, emissions = chain_of(5), torch.randn(3, 7, 5, dtype=torch.float64)
    mask = torch.arange(7) < torch.tensor([[7], [2], [5]])
    with_gradient = scan.log_partition(emissions, mask, learned(chain))
    assert with_gradient.requires_grad
    torch.testing.assert_close(scan.log_partition(emissions, mask, chain), with_gradient.detach())


def test_a_long_sentence_keeps_its_digits(device: str) -> None:
    """In float32 a naive sum of 3,000 steps would leave marginals right to two digits."""
    chain, emissions, mask = chain_of(6), 5 + torch.randn(2, 3000, 6, dtype=torch.float64), full(2, 3000)
    exact = scan.marginals(emissions, mask, chain)
    short = Chain(*(part.float().to(device) for part in chain))
    got = scan.marginals(emissions.float().to(device), mask.to(device), short).cpu()
    torch.testing.assert_close(got.sum(2), torch.ones(2, 3000), atol=1e-5, rtol=0)
    torch.testing.assert_close(got.double(), exact, atol=1e-5, rtol=0)
    log_z = scan.log_partition(emissions.float().to(device), mask.to(device), short).cpu()
    torch.testing.assert_close(log_z.double(), scan.log_partition(emissions, mask, chain), rtol=1e-6, atol=0)


def test_scores_far_apart_do_not_underflow() -> None:
    """A path forced through a move worse than exp can hold in float32 still counts."""
    chain = Chain(
        torch.tensor([[0.0, -1000.0], [-1000.0, 0.0]]),
        torch.tensor([0.0, -500.0]),
        torch.tensor([-5000.0, 0.0]),
    )
    emissions = torch.zeros(1, 3, 2)
    expected = brute.log_partition(emissions[0].double(), Chain(*(part.double() for part in chain)))
    got = scan.log_partition(emissions, full(1, 3), chain)
    torch.testing.assert_close(got[0].double(), expected)
    assert not scan.marginals(emissions, full(1, 3), chain).isnan().any()


def test_forbidden_moves_get_no_probability_and_no_gradient() -> None:
    chain = chain_of(3)
    chain.transitions[0, 1] = -torch.inf
    chain.start[2] = -torch.inf
    emissions = torch.randn(2, 4, 3, dtype=torch.float64)
    emissions[0, 2, 0] = -torch.inf
    mask = torch.arange(4) < torch.tensor([[4], [3]])
    marginals = scan.marginals(emissions, mask, chain)
    for row, length in enumerate((4, 3)):
        torch.testing.assert_close(marginals[row, :length], brute.marginals(emissions[row, :length], chain))
    parameters = learned(chain)
    scan.log_partition(emissions, mask, parameters).sum().backward()
    assert parameters.transitions.grad is not None
    assert parameters.transitions.grad[0, 1] == 0
    assert all(part.grad is not None and part.grad.isfinite().all() for part in parameters)


def test_where_no_path_is_possible_the_partition_is_empty() -> None:
    emissions = torch.zeros(2, 3, 2)
    emissions[1, 1] = -torch.inf
    log_z = scan.log_partition(emissions, full(2, 3), chain_of(2, dtype=torch.float32))
    assert log_z[0].isfinite()
    assert log_z[1] < -1e38


def test_pairs_in_pieces_are_the_pairs_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Long batches are counted a few steps at a time; no step may be lost between."""
    emissions, mask = (
        torch.randn(3, 8, 4, dtype=torch.float64),
        torch.arange(8) < torch.tensor([[8], [3], [6]]),
    )
    counts = []
    for at_once in (1 << 22, 1, 100):
        monkeypatch.setattr(scan, "PAIRS_AT_ONCE", at_once)
        torch.manual_seed(0)
        chain = learned(chain_of(4))
        scan.log_partition(emissions, mask, chain).sum().backward()
        counts.append(chain.transitions.grad)
    for other in counts[1:]:
        torch.testing.assert_close(other, counts[0])
    assert counts[0] is not None
    torch.testing.assert_close(
        counts[0].sum(), torch.tensor(7.0 + 2.0 + 5.0, dtype=torch.float64)
    )  # moves made


def test_marginals_are_the_gradient() -> None:
    chain, emissions = chain_of(4), torch.randn(2, 5, 4, dtype=torch.float64, requires_grad=True)
    mask = torch.arange(5) < torch.tensor([[5], [2]])
    (gradient,) = torch.autograd.grad(scan.log_partition(emissions, mask, chain).sum(), emissions)
    torch.testing.assert_close(gradient, scan.marginals(emissions, mask, chain))


def test_low_precision_scores_are_summed_in_the_parameters_precision(device: str) -> None:
    """bf16 training hands the CRF bf16 scores, inside autocast or not."""
    chain = Chain(*(part.float().to(device) for part in chain_of(4)))
    emissions, mask = torch.randn(2, 6, 4, device=device).bfloat16(), full(2, 6).to(device)
    expected = scan.log_partition(emissions.float(), mask, chain)
    with torch.autocast(device, dtype=torch.bfloat16):
        parameters = learned(chain)
        got = scan.log_partition(emissions.requires_grad_(), mask, parameters)
        got.sum().backward()
    assert got.dtype == torch.float32
    torch.testing.assert_close(got, expected)
    assert emissions.grad is not None
    assert emissions.grad.dtype == torch.bfloat16
    exact = learned(chain)
    scan.log_partition(emissions.detach().float(), mask, exact).sum().backward()
    torch.testing.assert_close(parameters.transitions.grad, exact.transitions.grad)
