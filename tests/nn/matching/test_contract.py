"""Tests that every matching must pass. Add a new matching to MATCHINGS.

If one of these fails, the prediction for a pair depends on its batch, or a saved model differs from the
trained one.
"""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch
from torch import Tensor, nn

from gonie.nn import LSTM, AdditiveAttention, Bidirectional, Joined, Max, Mean, NoEncoder
from gonie.nn.matching import AlignedMatching, Matched, Matching, PooledMatching, Projection

WIDTH, HIDDEN = 6, 4
FIRST, SECOND = [7, 1, 4, 1, 3], [2, 5, 5, 1, 1]


def bilstm(width: int) -> Bidirectional:
    return Bidirectional(ahead=LSTM(width=width, hidden=HIDDEN), back=LSTM(width=width, hidden=HIDDEN))


def aligned(composition: Callable[[int], nn.Module], width: int) -> nn.Module:
    return AlignedMatching(
        projection=Projection(width=4 * WIDTH, hidden=5),
        composition=composition(5),  # type: ignore[arg-type]
        pooling=Joined([Mean(width=width), Max(width=width)]),
    )


MATCHINGS: dict[str, Callable[[], nn.Module]] = {
    "pooled": lambda: PooledMatching(pooling=AdditiveAttention(width=WIDTH, hidden=4)),
    "pooled_max": lambda: PooledMatching(pooling=Max(width=WIDTH)),
    "aligned": lambda: aligned(bilstm, 2 * HIDDEN),
    "aligned_without_recurrence": lambda: aligned(lambda width: NoEncoder(width=width), 5),
}
Build = Callable[[], nn.Module]
Pair = tuple[Tensor, Tensor, Tensor, Tensor]


@pytest.fixture(params=MATCHINGS)
def build(request: pytest.FixtureRequest) -> Build:
    return MATCHINGS[request.param]


@pytest.fixture
def pairs() -> Pair:
    return (
        torch.randn(len(FIRST), max(FIRST), WIDTH),
        torch.randn(len(SECOND), max(SECOND), WIDTH),
        mask_of(FIRST),
        mask_of(SECOND),
    )


def mask_of(lengths: list[int]) -> Tensor:
    return torch.arange(max(lengths)) < torch.tensor(lengths).unsqueeze(1)


def moved(pairs: Pair, device: str) -> list[Tensor]:
    return [tensor.to(device) for tensor in pairs]


def test_shapes_and_widths(build: Build, pairs: Pair, device: str) -> None:
    part: Matching = build().to(device)  # type: ignore[assignment]
    assert part.input_width == WIDTH
    found = part(*moved(pairs, device))
    assert found.vectors.shape == (len(FIRST), part.width)
    assert found.first.shape == pairs[2].shape
    assert found.second.shape == pairs[3].shape


def test_shares_sum_to_one_and_are_zero_at_padding(build: Build, pairs: Pair, device: str) -> None:
    found = build().to(device)(*moved(pairs, device))
    for shares, mask in ((found.first, pairs[2]), (found.second, pairs[3])):
        assert not shares[~mask.to(device)].any()
        assert (shares >= 0).all()
        torch.testing.assert_close(shares.sum(1), torch.ones_like(shares[:, 0]))


@pytest.mark.parametrize("junk", [1e3, -torch.inf, torch.nan])
def test_padding_contents_do_not_matter(build: Build, pairs: Pair, junk: float, device: str) -> None:
    """Neither vectors, shares nor gradients depend on them."""
    part, (a, b, a_mask, b_mask) = build().to(device), moved(pairs, device)
    results = []
    for filling in (0.0, junk):
        part.zero_grad()
        sides = [
            x.where(mask.unsqueeze(2), filling).requires_grad_() for x, mask in ((a, a_mask), (b, b_mask))
        ]
        found = part(*sides, a_mask, b_mask)
        sum(tensor.square().sum() for tensor in found).backward()
        gradients = [side.grad for side in sides] + [weight.grad for weight in part.parameters()]
        results.append([*found, *gradients])
    for clean, dirty in zip(*results, strict=True):
        torch.testing.assert_close(clean, dirty, rtol=0, atol=0)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64], ids=str)
def test_results_do_not_depend_on_the_batch(
    build: Build,
    pairs: Pair,
    *,
    dtype: torch.dtype,
    scramble: Callable[[nn.Module], nn.Module],
    device: str,
) -> None:
    part = scramble(build()).to(device, dtype)
    a, b, a_mask, b_mask = moved(pairs, device)
    a, b = a.to(dtype), b.to(dtype)
    found = part(a, b, a_mask, b_mask)
    for row, (T1, T2) in enumerate(zip(FIRST, SECOND, strict=True)):
        own = slice(row, row + 1)
        alone = part(a[own, :T1], b[own, :T2], a_mask[own, :T1], b_mask[own, :T2])
        wanted = Matched(found.vectors[own], found.first[own, :T1], found.second[own, :T2])
        for one, together in zip(alone, wanted, strict=True):
            torch.testing.assert_close(one, together, atol=1e-5, rtol=1e-5)


@pytest.mark.parametrize("empty", [("first",), ("second",), ("first", "second")], ids=str)
def test_texts_without_tokens_give_no_nan(build: Build, pairs: Pair, empty: tuple[str, ...]) -> None:
    part, (a, b, a_mask, b_mask) = build(), pairs
    for name, mask in (("first", a_mask), ("second", b_mask)):
        if name in empty:
            mask[[0, 2]] = False
    a.requires_grad_()
    b.requires_grad_()
    found = part(a, b, a_mask, b_mask)
    assert all(tensor.isfinite().all() for tensor in found)
    sum(tensor.square().sum() for tensor in found).backward()
    for gradient in (a.grad, b.grad, *(weight.grad for weight in part.parameters())):
        assert gradient is None or gradient.isfinite().all()


def test_single_tokens_have_all_the_weight(build: Build, pairs: Pair) -> None:
    a, b, a_mask, b_mask = (tensor[:, :1] for tensor in pairs)
    found = build()(a, b, a_mask, b_mask)
    assert found.vectors.isfinite().all()
    assert found.first.eq(1).all()
    assert found.second.eq(1).all()


def test_every_token_of_either_text_has_a_gradient(build: Build, pairs: Pair) -> None:
    """Tokens that a maximum does not select are excluded."""
    a, b, a_mask, b_mask = pairs
    part = build()
    a.requires_grad_()
    b.requires_grad_()
    found = part(a, b, a_mask, b_mask)
    (found.vectors * torch.randn_like(found.vectors)).sum().backward()
    for side, mask, shares in ((a, a_mask, found.first), (b, b_mask, found.second)):
        assert side.grad is not None
        seen = side.grad.abs().sum(2) > 0
        assert seen[shares > 0].all()
        assert not seen[~mask].any()
    for name, weight in part.named_parameters():
        assert weight.grad is not None, name
        assert weight.grad.abs().sum() > 0, name


def test_gradients_equal_numerical_ones(build: Build, scramble: Callable[[nn.Module], nn.Module]) -> None:
    part = scramble(build()).double()
    names = [name for name, _ in part.named_parameters()]
    a = torch.randn(2, 3, WIDTH, dtype=torch.float64, requires_grad=True)
    b = torch.randn(2, 2, WIDTH, dtype=torch.float64, requires_grad=True)
    a_mask, b_mask = mask_of([3, 1]), mask_of([1, 2])

    def vectors(a: Tensor, b: Tensor, *weights: Tensor) -> Tensor:
        given = dict(zip(names, weights, strict=True))
        found: Matched = torch.func.functional_call(part, given, (a, b, a_mask, b_mask))
        return found.vectors

    weights = [weight.detach().clone().requires_grad_() for weight in part.parameters()]
    assert torch.autograd.gradcheck(vectors, (a, b, *weights))


def test_autocast_keeps_shares_and_gradients_valid(build: Build, pairs: Pair, device: str) -> None:
    part, (a, b, a_mask, b_mask) = build().to(device), moved(pairs, device)
    full = part(a, b, a_mask, b_mask)
    a.requires_grad_()
    with torch.autocast(device, dtype=torch.bfloat16):
        found = part(a, b, a_mask, b_mask)
    torch.testing.assert_close(found.vectors.float(), full.vectors, atol=0.1, rtol=0.1)
    torch.testing.assert_close(found.first.float().sum(1), torch.ones_like(found.first[:, 0]))
    found.vectors.float().square().sum().backward()
    assert a.grad is not None
    assert a.grad.isfinite().all()


def test_a_saved_and_loaded_part_gives_the_same_vectors(
    build: Build,
    pairs: Pair,
    scramble: Callable[[nn.Module], nn.Module],
    through_a_file: Callable[[nn.Module, nn.Module], nn.Module],
) -> None:
    part = scramble(build())
    if not part.state_dict():
        pytest.skip("no weights")
    copy = through_a_file(part, build())
    for one, two in zip(copy(*pairs), part(*pairs), strict=True):
        assert torch.equal(one, two)


def test_the_same_seed_gives_the_same_part_and_the_same_vectors(build: Build, pairs: Pair) -> None:
    runs = []
    for _ in range(2):
        torch.manual_seed(7)
        runs.append(build()(*pairs))
    assert all(torch.equal(one, two) for one, two in zip(*runs, strict=True))
