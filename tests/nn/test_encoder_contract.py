"""Tests that every encoder must pass. Add a new encoder to ENCODERS.

If one of these fails, a sentence's tags depend on the rest of its batch, or a saved model differs from the
trained one.
"""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch
from torch import Tensor, nn

from gonie.errors import InputError
from gonie.nn import (
    LSTM,
    Adapted,
    Bidirectional,
    Bypass,
    Convolution,
    Deep,
    Elman,
    LowRank,
    NoEncoder,
    PeepholeLSTM,
    VariationalDropout,
    Window,
)

WIDTH = 5
LENGTHS = [6, 1, 4, 6, 3]


def both_ways(layer: Callable[..., nn.Module], width: int = WIDTH) -> nn.Module:
    return Bidirectional(ahead=layer(width=width, hidden=4), back=layer(width=width, hidden=4))


def two_layers(layer: Callable[..., nn.Module]) -> nn.Module:
    return Deep(layers=[both_ways(layer), both_ways(layer, 8)], dropout=VariationalDropout(0.5))


def sigmoid(*, width: int, hidden: int) -> Elman:
    return Elman(width=width, hidden=hidden, activation="sigmoid")


def adapted() -> nn.Module:
    """Return an encoder with adapters that are no longer the identity."""
    part = Adapted(encoder=both_ways(LSTM), hidden=4)
    for adapter in (part.before, part.after):
        nn.init.normal_(adapter.up)
    return part


def low_rank() -> nn.Module:
    """Return an encoder with changed weights."""
    part = LowRank(part=two_layers(LSTM), rank=2)
    for weight in part.changes.parameters():
        nn.init.normal_(weight, std=0.3)
    return part


LAYERS = {"elman": Elman, "elman_sigmoid": sigmoid, "lstm": LSTM, "peephole": PeepholeLSTM}
ENCODERS: dict[str, Callable[[], nn.Module]] = {
    "none": lambda: NoEncoder(width=WIDTH),
    **{name: lambda layer=layer: layer(width=WIDTH, hidden=4) for name, layer in LAYERS.items()},
    **{f"{name}_both_ways": lambda layer=layer: both_ways(layer) for name, layer in LAYERS.items()},
    **{f"{name}_deep": lambda layer=layer: two_layers(layer) for name, layer in LAYERS.items()},
    "window": lambda: Window(width=WIDTH, hidden=4, size=3),
    "window_wide_and_deep": lambda: Window(width=WIDTH, hidden=4, size=9, layers=3),
    "convolution": lambda: Convolution(width=WIDTH, hidden=4, dropout=0.5),
    "convolution_narrow": lambda: Convolution(width=WIDTH, hidden=4, kernels=[1, 2]),
    "passing": lambda: Bypass(encoder=LSTM(width=WIDTH - 2, hidden=4), passed=2),
    "passing_all": lambda: Bypass(encoder=NoEncoder(width=0), passed=WIDTH),
    "adapted": adapted,
    "low_rank": low_rank,
    "mixed": lambda: Bidirectional(ahead=LSTM(width=WIDTH, hidden=3), back=Elman(width=WIDTH, hidden=2)),
}


@pytest.fixture(params=ENCODERS)
def build(request: pytest.FixtureRequest) -> Callable[[], nn.Module]:
    return ENCODERS[request.param]


@pytest.fixture
def x() -> Tensor:
    return torch.randn(len(LENGTHS), max(LENGTHS), WIDTH)


@pytest.fixture
def mask() -> Tensor:
    return torch.arange(max(LENGTHS)) < torch.tensor(LENGTHS).unsqueeze(1)


def test_shape_and_widths(build: Callable[[], nn.Module], x: Tensor, mask: Tensor, device: str) -> None:
    part = build().to(device)
    assert part.input_width == WIDTH
    assert part(x.to(device), mask.to(device)).shape == (*mask.shape, part.width)


def test_double_precision(build: Callable[[], nn.Module], x: Tensor, mask: Tensor, device: str) -> None:
    part = build().to(device).eval()
    single = part(x.to(device), mask.to(device))
    double = part.double()(x.double().to(device), mask.to(device))
    assert double.dtype == torch.float64
    torch.testing.assert_close(double.float(), single, atol=1e-4, rtol=1e-4)


def test_states_are_zero_at_padding(build: Callable[[], nn.Module], x: Tensor, mask: Tensor) -> None:
    assert not build()(x, mask)[~mask].any()


def test_padding_contents_do_not_matter(
    build: Callable[[], nn.Module], x: Tensor, mask: Tensor, device: str
) -> None:
    """Neither states nor gradients depend on them. cuDNN computes gradients in training mode only."""
    part, mask = build().to(device), mask.to(device)
    for module in part.modules():
        module.train(not isinstance(module, VariationalDropout))
    results = []
    for junk in (0.0, 1e3):
        part.zero_grad()
        filled = x.to(device).where(mask.unsqueeze(2), junk).requires_grad_()
        states = part(filled, mask)
        states.square().sum().backward()
        assert filled.grad is not None
        results.append([states, filled.grad, *(weight.grad for weight in part.parameters())])
    for clean, dirty in zip(*results, strict=True):
        torch.testing.assert_close(clean, dirty, atol=1e-6, rtol=1e-5)


def test_states_do_not_depend_on_the_batch(
    build: Callable[[], nn.Module], x: Tensor, mask: Tensor, device: str
) -> None:
    part, x, mask = build().to(device).eval(), x.to(device), mask.to(device)
    together = part(x, mask)
    for row, length in enumerate(LENGTHS):
        alone = part(x[row : row + 1, :length], mask[row : row + 1, :length])
        torch.testing.assert_close(together[row : row + 1, :length], alone, atol=1e-5, rtol=1e-4)


def test_a_saved_and_loaded_part_gives_the_same_states(
    build: Callable[[], nn.Module],
    x: Tensor,
    mask: Tensor,
    scramble: Callable[[nn.Module], nn.Module],
    through_a_file: Callable[[nn.Module, nn.Module], nn.Module],
) -> None:
    part = scramble(build()).eval()
    copy = through_a_file(part, build().eval())
    assert torch.equal(copy(x, mask), part(x, mask))


def test_gradients_reach_every_weight_and_every_token(
    build: Callable[[], nn.Module], x: Tensor, mask: Tensor
) -> None:
    part = build().eval()
    x.requires_grad_()
    states = part(x, mask)
    (states * torch.randn_like(states)).sum().backward()
    assert x.grad is not None
    assert (x.grad.abs().sum(2) > 0).equal(mask)
    for name, weight in part.named_parameters():
        assert weight.grad is not None, name
        assert weight.grad.abs().sum() > 0, name


def test_the_same_seed_gives_the_same_part_and_the_same_states(
    build: Callable[[], nn.Module], x: Tensor, mask: Tensor
) -> None:
    runs = []
    for _ in range(2):
        torch.manual_seed(7)
        runs.append(build().train()(x, mask))
    assert torch.equal(*runs)


def test_evaluation_has_no_randomness(build: Callable[[], nn.Module], x: Tensor, mask: Tensor) -> None:
    part = build().eval()
    assert torch.equal(part(x, mask), part(x, mask))


@pytest.mark.parametrize("layer", [Elman, LSTM, PeepholeLSTM])
def test_recurrent_dropout_drops_only_recurrent_weights_in_training(
    layer: Callable[..., nn.Module], x: Tensor, mask: Tensor, device: str
) -> None:
    part = layer(width=WIDTH, hidden=4, dropout=0.5).to(device)
    x, mask = x.to(device), mask.to(device)
    plain = part.eval()(x, mask)
    assert torch.equal(part(x, mask), plain)
    part.train()
    dropped = [part(x, mask) for _ in range(6)]
    assert all(torch.allclose(states[:, 0], plain[:, 0], atol=1e-5) for states in dropped)  # first state
    assert len({round(states[0, -1].sum().item(), 5) for states in dropped}) > 1
    recurrent = next(weight for name, weight in part.named_parameters() if "weight_hh" in name)
    (gradient,) = torch.autograd.grad(part(x, mask).sum(), recurrent)
    assert 0 < gradient.eq(0).sum() < gradient.numel()  # dropped weights get no gradient
    with torch.no_grad():
        recurrent.zero_()
    assert torch.equal(part(x, mask), part.eval()(x, mask))  # nothing else is dropped


@pytest.mark.parametrize("layer", [Elman, LSTM, PeepholeLSTM])
def test_a_dropout_rate_of_1_is_refused(layer: Callable[..., nn.Module]) -> None:
    with pytest.raises(InputError, match="below 1"):
        layer(width=2, hidden=2, dropout=1.0)
