"""Named tensors in one safetensors file with a checksum: the weights of a model, the state of a run.

The file is written atomically. Its metadata has a checksum of its contents, because safetensors detects a
truncated file but not damaged numbers. All metadata is one JSON object under one key, because safetensors
writes several keys in random order. So equal content gives equal bytes.
"""

from __future__ import annotations

import json
import zlib
from collections.abc import Mapping
from pathlib import Path

import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import save
from torch import Tensor, nn

from gonie.errors import BundleError
from gonie.nn.protocols import MovesBuffers
from gonie.system.files import atomic_write

KEY, CHECKSUM = "gonie", "checksum"


def write_tensors(
    path: Path, tensors: Mapping[str, Tensor], metadata: Mapping[str, str] | None = None
) -> None:
    """Write ``tensors`` and ``metadata``."""
    plain = {name: tensor.detach().cpu().contiguous() for name, tensor in tensors.items()}
    entries = dict(metadata or {})
    atomic_write(path, save(plain, {KEY: json.dumps({**entries, CHECKSUM: _checksum(plain, entries)})}))


def read_tensors(path: Path) -> tuple[dict[str, Tensor], dict[str, str]]:
    """Read the tensors and metadata that ``write_tensors`` wrote. A damaged file raises ``BundleError``."""
    try:
        with safe_open(path, framework="pt") as file:
            metadata = json.loads((file.metadata() or {}).get(KEY, "{}"))
            tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118 (not a mapping)
    except (OSError, ValueError, SafetensorError) as error:
        raise BundleError(f"{path}: cannot read the weights: {error}") from error
    if not isinstance(metadata, dict) or metadata.pop(CHECKSUM, None) != _checksum(tensors, metadata):
        raise BundleError(f"{path}: damaged file: wrong checksum")
    return tensors, metadata


def moving_tensors(model: nn.Module) -> dict[str, Tensor]:
    """Return the tensors that training changes: trained parameters, and the buffers of ``MovesBuffers``.

    All others, such as those of a frozen language model, are the same in a new model of the recipe.
    """
    return {name: p for name, p in model.named_parameters() if p.requires_grad} | moved_buffers(model)


def moved_buffers(model: nn.Module) -> dict[str, Tensor]:
    """Return the buffers that training changes, by name (``MovesBuffers``)."""
    return {
        f"{name}.{buffer}": part.get_buffer(buffer)
        for name, part in model.named_modules()
        if isinstance(part, MovesBuffers)
        for buffer in part.moves
    }


def save_weights(path: Path, model: nn.Module) -> None:
    """Write all parameters and buffers of ``model`` atomically."""
    write_tensors(path, model.state_dict())


def load_weights(path: Path, model: nn.Module) -> None:
    """Load the weights that ``save_weights`` wrote into ``model``, which must have the same shape."""
    tensors, _ = read_tensors(path)
    try:
        model.load_state_dict(tensors)
    except RuntimeError as error:
        raise BundleError(
            f"{path}: the weights do not fit the model: {error}. Train the model again."
        ) from error


def _checksum(tensors: Mapping[str, Tensor], metadata: Mapping[str, str]) -> str:
    """Return the CRC-32 of the metadata and of all tensors in the order of their names, in hexadecimal."""
    value = zlib.crc32(json.dumps(metadata, sort_keys=True).encode())
    for name in sorted(tensors):
        value = zlib.crc32(name.encode(), value)
        value = zlib.crc32(tensors[name].reshape(-1).view(torch.uint8).numpy().data, value)
    return f"{value:08x}"
