"""Storing weights in float32, in half precision, or as int8 with a scale per row.

A matrix W becomes rows of integers from -127 to 127 and a scale each, W[r] ≈ scale[r] · q[r]. Tensors of one
dimension (biases, scales) are small and stay in half precision. A scale is rounded up, so no weight is
clipped: each is within half a scale of its value.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Literal

import torch
from torch import Tensor

from gonie.errors import InputError

Storage = Literal["float32", "float16", "int8"]
SCALE = ".scale"
LARGEST = 127


def pack(tensors: Mapping[str, Tensor], storage: Storage) -> dict[str, Tensor]:
    """Convert float tensors to the storage type."""
    return PACKERS[storage](tensors)


def unpack(tensors: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """Convert the output of ``pack`` back to float32, whatever its storage type."""
    return {
        name: _restored(tensor, tensors.get(name + SCALE))
        for name, tensor in tensors.items()
        if not name.endswith(SCALE)
    }


def _restored(tensor: Tensor, scale: Tensor | None) -> Tensor:
    if scale is None:
        return tensor.float()
    return tensor.float() * scale.float().view(-1, *[1] * (tensor.dim() - 1))


def _to_int8(tensors: Mapping[str, Tensor]) -> dict[str, Tensor]:
    packed: dict[str, Tensor] = {}
    for name, tensor in tensors.items():
        if tensor.dim() < 2:
            packed[name] = _to_float16(name, tensor)
            continue
        rows = tensor.float().flatten(1)  # (R, D)
        scale = _to_float16(
            name + SCALE, (rows.abs().amax(1) / LARGEST) * (1 + 2**-10) + 2**-24
        )  # rounded up
        packed[name] = (rows / scale.float().unsqueeze(1)).round().to(torch.int8).view_as(tensor)
        packed[name + SCALE] = scale
    return packed


def _to_float16(name: str, tensor: Tensor) -> Tensor:
    """Convert to half precision. Raise InputError on overflow."""
    half = tensor.half()
    if half.isinf().any() and not tensor.isinf().any():
        raise InputError(
            f"{name} has weights too large for half precision "
            f"(more than {torch.finfo(torch.float16).max:,.0f}): {tensor.abs().max():,.0f}",
            fix="Use float32: --set model.storage=float32, or import-elmo --storage float32",
        )
    return half


PACKERS: Mapping[Storage, Callable[[Mapping[str, Tensor]], dict[str, Tensor]]] = {
    "float32": lambda tensors: {name: tensor.float() for name, tensor in tensors.items()},
    "float16": lambda tensors: {name: _to_float16(name, tensor) for name, tensor in tensors.items()},
    "int8": _to_int8,
}
