"""Tests that every pooling must pass. Add a new pooling to POOLINGS.

If one of these fails, a text's label depends on its batch or on padding, an explanation shows invalid
weights, or a saved model differs from the trained one.
"""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch
from torch import Tensor, nn

from gonie.nn import AdditiveAttention, BatchNorm, DotAttention, Joined, Last, Max, Mean, Normalized
from gonie.nn.protocols import Pooling

WIDTH = 6
LENGTHS = [7, 1, 4, 7, 3]


def joined() -> nn.Module:
    return Joined([AdditiveAttention(width=WIDTH, hidden=4), Max(width=WIDTH), Mean(width=WIDTH)])


POOLINGS: dict[str, Callable[[], nn.Module]] = {
    "attention": lambda: AdditiveAttention(width=WIDTH, hidden=4),
    "attention_heads": lambda: AdditiveAttention(width=WIDTH, hidden=4, heads=3),
    "dot": lambda: DotAttention(width=WIDTH),
    "dot_heads": lambda: DotAttention(width=WIDTH, heads=3),
    "mean": lambda: Mean(width=WIDTH),
    "max": lambda: Max(width=WIDTH),
    "last": lambda: Last(width=WIDTH),
    "last_both_ways": lambda: Last(width=WIDTH, both_ways=True),
    "joined": joined,
    "layer_norm": lambda: Normalized(pooling=joined(), norm=nn.LayerNorm(3 * WIDTH)),
    "batch_norm": lambda: Normalized(pooling=joined(), norm=BatchNorm(width=3 * WIDTH)),
}
Build = Callable[[], nn.Module]
DTYPES = [torch.float32, torch.float64, torch.bfloat16]


@pytest.fixture(params=POOLINGS)
def build(request: pytest.FixtureRequest) -> Build:
    return POOLINGS[request.param]


@pytest.fixture
def x() -> Tensor:
    return torch.randn(len(LENGTHS), max(LENGTHS), WIDTH)


@pytest.fixture
def mask() -> Tensor:
    return torch.arange(max(LENGTHS)) < torch.tensor(LENGTHS).unsqueeze(1)


def test_shapes_and_widths(build: Build, x: Tensor, mask: Tensor, device: str) -> None:
    part: Pooling = build().to(device)
    assert part.input_width == WIDTH
    vectors, weights = part(x.to(device), mask.to(device))
    assert vectors.shape == (len(LENGTHS), part.width)
    assert weights.shape == mask.shape


@pytest.mark.parametrize("scale", [1.0, 1e4])
@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_weights_sum_to_one_and_are_zero_at_padding(
    build: Build, x: Tensor, mask: Tensor, *, dtype: torch.dtype, scale: float, device: str
) -> None:
    """This also holds in bfloat16, where a sum of 400 weights is wrong in the third digit."""
    part, x, mask = build().to(device, dtype), x.repeat(1, 60, 1), mask.repeat_interleave(60, 1)
    vectors, weights = part((scale * x).to(device, dtype), mask.to(device))
    assert not weights[~mask.to(device)].any()
    assert (weights >= 0).all()
    torch.testing.assert_close(weights.sum(1), torch.ones_like(weights[:, 0]), rtol=1e-5, atol=1e-5)
    assert vectors.isfinite().all()
    assert vectors.dtype == dtype


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_a_single_token_has_all_the_weight(build: Build, x: Tensor, dtype: torch.dtype) -> None:
    x, mask = x[:, :1].to(dtype), torch.ones(len(LENGTHS), 1, dtype=torch.bool)
    part = build().to(dtype)
    vectors, weights = part(x, mask)
    assert weights.eq(1).all()
    if not isinstance(part, Normalized):
        assert vectors.equal(x[:, 0].repeat(1, part.width // WIDTH))


def test_only_tokens_with_weight_affect_the_vector(build: Build, x: Tensor, mask: Tensor) -> None:
    """A token has a gradient if and only if its weight is above 0."""
    part = build().eval()
    x.requires_grad_()
    vectors, weights = part(x, mask)
    (vectors * torch.randn_like(vectors)).sum().backward()
    assert x.grad is not None
    assert (x.grad.abs().sum(2) > 0).equal(weights > 0)


@pytest.mark.parametrize("junk", [1e3, -torch.inf, torch.nan])
def test_padding_contents_do_not_matter(
    build: Build, x: Tensor, mask: Tensor, junk: float, device: str
) -> None:
    """Neither vectors, weights nor gradients depend on them."""
    part, mask = build().to(device), mask.to(device)
    results = []
    for filling in (0.0, junk):
        part.zero_grad()
        filled = x.to(device).where(mask.unsqueeze(2), filling).requires_grad_()
        vectors, weights = part(filled, mask)
        (vectors.square().sum() + weights.square().sum()).backward()
        assert filled.grad is not None
        results.append([vectors, weights, filled.grad, *(weight.grad for weight in part.parameters())])
    for clean, dirty in zip(*results, strict=True):
        torch.testing.assert_close(clean, dirty, rtol=0, atol=0)


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_vectors_do_not_depend_on_the_batch(
    build: Build,
    x: Tensor,
    mask: Tensor,
    *,
    dtype: torch.dtype,
    scramble: Callable[[nn.Module], nn.Module],
    device: str,
) -> None:
    part, x, mask = scramble(build()).to(device, dtype).eval(), x.to(device, dtype), mask.to(device)
    tolerance = 1e-2 if dtype == torch.bfloat16 else 1e-5
    vectors, weights = part(x, mask)
    for row, length in enumerate(LENGTHS):
        vector, weight = part(x[row : row + 1, :length], mask[row : row + 1, :length])
        torch.testing.assert_close(vectors[row : row + 1], vector, atol=tolerance, rtol=tolerance)
        torch.testing.assert_close(weights[row : row + 1, :length], weight, atol=tolerance, rtol=tolerance)


@pytest.mark.parametrize("shape", [(2, 3), (1, 1)])
def test_rows_without_tokens_give_no_nan(build: Build, shape: tuple[int, int]) -> None:
    part = build()
    x = torch.randn(*shape, WIDTH, requires_grad=True)
    mask = torch.zeros(shape, dtype=torch.bool)
    vectors, weights = part(x, mask)
    assert not weights.any()
    assert vectors.isfinite().all()
    if not isinstance(part, Normalized):
        assert not vectors.any()
    (vectors.sum() + weights.sum()).backward()
    assert x.grad is not None
    assert not x.grad.any()
    assert all(weight.grad is None or weight.grad.isfinite().all() for weight in part.parameters())


def test_double_precision(build: Build, x: Tensor, mask: Tensor, device: str) -> None:
    part = build().to(device)
    single = part(x.to(device), mask.to(device))
    double = part.double()(x.double().to(device), mask.to(device))
    for one, two in zip(single, double, strict=True):
        assert two.dtype == torch.float64
        torch.testing.assert_close(two.float(), one, atol=1e-5, rtol=1e-5)


def test_autocast_keeps_weights_and_gradients_valid(
    build: Build, x: Tensor, mask: Tensor, device: str
) -> None:
    part, mask = build().to(device), mask.to(device)
    full, _ = part(x.to(device), mask)
    for dtype in (torch.float32, torch.bfloat16):  # encoders return either of them under autocast
        states = x.to(device, dtype).detach().requires_grad_()
        with torch.autocast(device, dtype=torch.bfloat16):
            vectors, weights = part(states, mask)
        torch.testing.assert_close(weights.sum(1), torch.ones_like(weights[:, 0]))
        torch.testing.assert_close(vectors.float(), full, atol=0.1, rtol=0.1)
        vectors.float().square().sum().backward()
        assert states.grad is not None
        assert states.grad.isfinite().all()
    assert all(weight.grad.isfinite().all() for weight in part.parameters() if weight.grad is not None)


def test_a_saved_and_loaded_part_gives_the_same_vectors(
    build: Build,
    x: Tensor,
    mask: Tensor,
    scramble: Callable[[nn.Module], nn.Module],
    through_a_file: Callable[[nn.Module, nn.Module], nn.Module],
) -> None:
    part = scramble(build())
    part(x, mask)  # training may change more than weights, such as running averages
    if not part.state_dict():
        pytest.skip("no weights")
    copy = through_a_file(part, build()).eval()
    for one, two in zip(copy(x, mask), part.eval()(x, mask), strict=True):
        assert torch.equal(one, two)


def test_gradients_reach_every_weight(build: Build, x: Tensor, mask: Tensor) -> None:
    part = build()
    vectors, _ = part(x.requires_grad_(), mask)
    (vectors * torch.randn_like(vectors)).sum().backward()
    for name, weight in part.named_parameters():
        assert weight.grad is not None, name
        assert weight.grad.abs().sum() > 0, name


def test_the_same_seed_gives_the_same_part_and_the_same_vectors(
    build: Build, x: Tensor, mask: Tensor
) -> None:
    runs = []
    for _ in range(2):
        torch.manual_seed(7)
        runs.append(build()(x, mask))
    assert all(torch.equal(one, two) for one, two in zip(*runs, strict=True))
