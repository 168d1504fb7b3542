"""Weights in fewer bytes: as they are, in half precision, or as bytes with a scale a row.

A matrix W becomes rows of whole numbers from -127 to 127 and a scale each, W[r] ≈ scale[r] · q[r]; what has
one dimension (biases, scales) stays in half precision, being small.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Literal

import torch
from torch import Tensor

Storage = Literal["float32", "float16", "int8"]
SCALE = ".scale"
LARGEST = 127


def pack(tensors: Mapping[str, Tensor], storage: Storage) -> dict[str, Tensor]:
    """Float tensors as they are to be kept."""
    return PACKERS[storage](tensors)


def unpack(tensors: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """What ``pack`` made, as float32 again, however it was kept."""
    return {
        name: _restored(tensor, tensors.get(name + SCALE))
        for name, tensor in tensors.items()
        if not name.endswith(SCALE)
    }


def _restored(tensor: Tensor, scale: Tensor | None) -> Tensor:
    if scale is None:
        return tensor.float()
    return tensor.float() * scale.float().view(-1, *[1] * (tensor.dim() - 1))


def _as_bytes(tensors: Mapping[str, Tensor]) -> dict[str, Tensor]:
    packed: dict[str, Tensor] = {}
    for name, tensor in tensors.items():
        if tensor.dim() < 2:
            packed[name] = tensor.half()
            continue
        rows = tensor.float().flatten(1)  # (R, D)
        scale = (rows.abs().amax(1) / LARGEST).clamp(min=1e-7).half().float()  # as it will be read back
        packed[name] = (
            (rows / scale.unsqueeze(1)).round().clamp(-LARGEST, LARGEST).to(torch.int8).view_as(tensor)
        )
        packed[name + SCALE] = scale.half()
    return packed


PACKERS: Mapping[Storage, Callable[[Mapping[str, Tensor]], dict[str, Tensor]]] = {
    "float32": lambda tensors: {name: tensor.float() for name, tensor in tensors.items()},
    "float16": lambda tensors: {name: tensor.half() for name, tensor in tensors.items()},
    "int8": _as_bytes,
}
