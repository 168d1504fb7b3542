"""The CRF against enumeration of every path.

If one of these fails, the model is trained on a wrong likelihood or decodes a path that is not the best.
"""

from __future__ import annotations

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor

from gonie.errors import InputError
from gonie.nn import CRF
from gonie.nn.crf import brute

sizes = st.tuples(
    st.lists(st.integers(1, 4), min_size=1, max_size=4),  # the lengths of the rows
    st.integers(1, 4),  # K
    st.integers(0, 2**31),  # seed
    st.sampled_from([0.1, 1.0, 30.0]),  # how far apart scores lie
)


def crf_of(num_tags: int, scale: float = 1.0, dtype: torch.dtype = torch.float64) -> CRF:
    crf = CRF(num_tags).to(dtype)
    for parameter in crf.parameters():
        torch.nn.init.normal_(parameter, std=scale)
    return crf


def mask_of(lengths: list[int], width: int = 0) -> Tensor:
    return torch.arange(max(*lengths, width, 1)) < torch.tensor(lengths).unsqueeze(1)


def case(drawn: tuple[list[int], int, int, float]) -> tuple[CRF, Tensor, Tensor, Tensor]:
    lengths, num_tags, seed, scale = drawn
    torch.manual_seed(seed)
    mask = mask_of(lengths)
    emissions = scale * torch.randn(*mask.shape, num_tags, dtype=torch.float64)
    return crf_of(num_tags, scale), emissions, torch.randint(0, num_tags, mask.shape), mask


@settings(deadline=None, max_examples=60)
@given(sizes)
def test_everything_equals_enumeration(drawn: tuple[list[int], int, int, float]) -> None:
    crf, emissions, tags, mask = case(drawn)
    log_z, likelihood = crf.log_partition(emissions, mask), crf.log_likelihood(emissions, tags, mask)
    (best, scores), marginals = crf.viterbi(emissions, mask), crf.marginals(emissions, mask)
    for row, length in enumerate(drawn[0]):
        e, chain = emissions[row, :length], crf.chain()
        torch.testing.assert_close(log_z[row], brute.log_partition(e, chain))
        path = tuple(tags[row, :length].tolist())
        torch.testing.assert_close(likelihood[row], brute.log_likelihood(e, path, chain))
        torch.testing.assert_close(marginals[row, :length], brute.marginals(e, chain), atol=1e-9, rtol=1e-7)
        expected, score = brute.viterbi(e, chain)
        torch.testing.assert_close(scores[row], score)
        assert tuple(best[row, :length].tolist()) == expected
        assert best[row, length:].eq(-1).all()
        assert not marginals[row, length:].any()


@settings(deadline=None, max_examples=25)
@given(sizes)
def test_gradient_of_the_partition_equals_enumeration_s(drawn: tuple[list[int], int, int, float]) -> None:
    """Each row has its own weight in the sum, so a gradient that mixed rows would show."""
    crf, emissions, _, mask = case(drawn)
    weights = torch.randn(len(drawn[0]), dtype=torch.float64)
    inputs = [emissions.requires_grad_(), *crf.parameters()]
    fast = torch.autograd.grad(crf.log_partition(emissions, mask) @ weights, inputs)
    rows = [brute.log_partition(emissions[row, :n], crf.chain()) for row, n in enumerate(drawn[0])]
    slow = torch.autograd.grad(torch.stack(rows) @ weights, inputs, materialize_grads=True)
    for ours, theirs in zip(fast, slow, strict=True):
        torch.testing.assert_close(ours, theirs, atol=1e-9, rtol=1e-7)


def test_numerical_gradients() -> None:
    lengths = [4, 1, 3]
    crf, mask = crf_of(3), mask_of(lengths, 5)
    emissions = torch.randn(3, 5, 3, dtype=torch.float64, requires_grad=True)
    tags = torch.randint(0, 3, (3, 5))
    parameters = tuple(crf.parameters())
    assert torch.autograd.gradcheck(lambda e, *_: crf.log_partition(e, mask), (emissions, *parameters))
    assert torch.autograd.gradcheck(lambda e, *_: crf.log_likelihood(e, tags, mask), (emissions, *parameters))


@pytest.mark.parametrize("junk", [1e30, float("nan"), float("-inf")])
def test_padding_contents_do_not_matter(junk: float, device: str) -> None:
    lengths = [5, 1, 3]
    crf, mask = crf_of(4).to(device), mask_of(lengths).to(device)
    emissions = torch.randn(3, 5, 4, dtype=torch.float64, device=device)
    tags = torch.randint(0, 4, (3, 5), device=device).where(mask, -1)
    results = []
    for filling, tag in ((0.0, 0), (junk, 999)):
        e = emissions.where(mask.unsqueeze(2), filling).requires_grad_()
        likelihood = crf.log_likelihood(e, tags.where(mask, tag), mask)
        gradients = torch.autograd.grad(likelihood.sum(), [e, *crf.parameters()])
        results.append([likelihood, *gradients, *crf.viterbi(e, mask), crf.marginals(e, mask)])
    for clean, dirty in zip(*results, strict=True):
        torch.testing.assert_close(dirty, clean, atol=0, rtol=0)


def test_a_batch_is_its_rows_one_by_one(device: str) -> None:
    lengths = [7, 1, 4, 7, 2]
    crf, mask = crf_of(6, dtype=torch.float32).to(device), mask_of(lengths, 9).to(device)
    emissions, tags = torch.randn(5, 9, 6, device=device), torch.randint(0, 6, (5, 9), device=device)
    likelihood, marginals = crf.log_likelihood(emissions, tags, mask), crf.marginals(emissions, mask)
    best, scores = crf.viterbi(emissions, mask)
    for row, n in enumerate(lengths):
        one, alone = emissions[row : row + 1, :n], mask[row : row + 1, :n]
        torch.testing.assert_close(
            crf.log_likelihood(one, tags[row : row + 1, :n], alone), likelihood[row : row + 1]
        )
        torch.testing.assert_close(crf.marginals(one, alone)[0], marginals[row, :n], atol=1e-6, rtol=1e-5)
        path, score = crf.viterbi(one, alone)
        assert torch.equal(path[0], best[row, :n])
        torch.testing.assert_close(score, scores[row : row + 1])


def test_it_learns_a_chain_that_emissions_do_not_show() -> None:
    """Alternating tags over emissions that say nothing: only transitions can tell them apart."""
    crf, mask = CRF(2), torch.ones(4, 6, dtype=torch.bool)
    emissions, tags = torch.zeros(4, 6, 2), torch.arange(6).remainder(2).expand(4, 6)
    optimizer = torch.optim.SGD(crf.parameters(), lr=0.5)
    for _ in range(60):
        optimizer.zero_grad()
        (-crf.log_likelihood(emissions, tags, mask).mean()).backward()
        optimizer.step()
    assert torch.equal(crf.viterbi(emissions, mask)[0], tags)
    assert crf.transitions[0, 1] > crf.transitions[0, 0]  # indexed [from, to]


@pytest.mark.parametrize(
    ("mask", "message"),
    [
        ([[1, 1, 0], [0, 0, 0]], "row 1 with no token"),
        ([[1, 1, 0], [1, 1, 1], [1, 0, 1]], "row 2 with a token after padding"),
        ([[0, 1, 1]], "row 0 with a token after padding"),
    ],
)
def test_a_mask_that_is_not_right_padded_is_refused_by_row(mask: list[list[int]], message: str) -> None:
    given_mask = torch.tensor(mask, dtype=torch.bool)
    crf, emissions = CRF(2), torch.randn(*given_mask.shape, 2)
    for call in (crf.log_partition, crf.viterbi, crf.marginals):
        with pytest.raises(InputError, match=message):
            call(emissions, given_mask)
    with pytest.raises(InputError, match=message):
        crf.log_likelihood(emissions, torch.zeros_like(given_mask, dtype=torch.long), given_mask)


def test_wrong_shapes_and_tags_are_refused() -> None:
    crf, emissions, mask = CRF(3), torch.randn(2, 4, 3), torch.ones(2, 4, dtype=torch.bool)
    with pytest.raises(InputError, match=r"\(B, T, 3\), got \(2, 4, 5\)"):
        crf.log_partition(torch.randn(2, 4, 5), mask)
    with pytest.raises(InputError, match=r"bool mask of shape \(2, 4\)"):
        crf.log_partition(emissions, mask.long())
    with pytest.raises(InputError, match=r"tags of shape \(2, 4\)"):
        crf.log_likelihood(emissions, torch.zeros(2, 3, dtype=torch.long), mask)
    tags = torch.zeros(2, 4, dtype=torch.long)
    tags[1, 2] = 3
    with pytest.raises(InputError, match="got 3 in row 1 at token 2"):
        crf.log_likelihood(emissions, tags, mask)
    with pytest.raises(InputError, match="at least one tag"):
        CRF(0)
