"""Storing weights in fewer bytes: the error is bounded."""

from __future__ import annotations

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor

from gonie.errors import InputError
from gonie.tasks.language_model.torch.storage import SCALE, pack, unpack

SHAPES = [(3, 4), (1, 1), (5, 2, 3), (7, 1), (2, 3, 1, 2), (4,)]


def tensors() -> dict[str, Tensor]:
    return {f"part.{number}": torch.randn(shape) for number, shape in enumerate(SHAPES)}


def test_float32_is_exact_and_float16_keeps_eleven_bits() -> None:
    given = tensors()
    for name, tensor in unpack(pack(given, "float32")).items():
        assert torch.equal(tensor, given[name])
    halves = pack(given, "float16")
    assert {tensor.dtype for tensor in halves.values()} == {torch.float16}
    for name, tensor in unpack(halves).items():
        assert tensor.dtype == torch.float32
        torch.testing.assert_close(tensor, given[name], rtol=2**-11, atol=2**-25)


@settings(deadline=None, max_examples=60)
@given(
    st.sampled_from(SHAPES[:-1]),
    st.integers(-8, 4),  # the power of ten of the weights: rows may be tiny
    st.integers(0, 2**31),
)
def test_int8_weights_are_within_half_a_step(shape: tuple[int, ...], power: int, seed: int) -> None:
    torch.manual_seed(seed)
    weight = 10.0**power * torch.randn(shape)
    packed = pack({"w": weight}, "int8")
    assert packed["w"].dtype == torch.int8
    assert packed["w"].shape == weight.shape
    rows, restored = weight.flatten(1), unpack(packed)["w"].flatten(1)
    step = rows.abs().amax(1, keepdim=True) / 127  # (R, 1) the size of one of 255 even steps
    assert ((restored - rows).abs() <= 0.5 * (1.002 * step + 2**-23) + 1e-6 * rows.abs()).all()


def test_each_row_has_its_own_scale() -> None:
    weight = torch.tensor([[1e-3, -2e-3], [100.0, 7.0]])
    restored = unpack(pack({"w": weight}, "int8"))["w"]
    torch.testing.assert_close(restored, weight, rtol=0.06, atol=1e-5)


@pytest.mark.parametrize("storage", ["float32", "float16", "int8"])
def test_zeros_are_restored_as_zeros(storage: str) -> None:
    given = {"matrix": torch.zeros(3, 2), "bias": torch.zeros(3), "kernel": torch.zeros(2, 3, 4)}
    restored = unpack(pack(given, storage))  # type: ignore[arg-type]
    assert restored.keys() == given.keys()
    assert all(torch.equal(restored[name], given[name]) for name in given)


def test_int8_takes_a_quarter_of_the_size() -> None:
    packed = pack({"w": torch.randn(100, 400), "b": torch.randn(100)}, "int8")
    assert packed.keys() == {"w", f"w{SCALE}", "b"}
    assert sum(tensor.numel() * tensor.element_size() for tensor in packed.values()) == 40_000 + 200 + 200


@pytest.mark.parametrize("storage", ["float16", "int8"])
def test_a_weight_too_large_for_half_precision_is_refused(storage: str) -> None:
    """The weight would be loaded as infinity."""
    with pytest.raises(InputError, match=r"bias has weights too large .*65,504\): 70,000"):
        pack({"bias": torch.tensor([1.0, -70_000.0])}, storage)  # type: ignore[arg-type]
