"""Named tensors as one safetensors file that is whole or refused: a model's weights, a run's state.

The file is written whole or not at all, and carries a checksum of what it holds in its metadata: safetensors
itself notices a file cut short, but not one whose numbers were damaged. All metadata is one JSON object under
one key, since safetensors would write several in random order: the same content is the same bytes.
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
from gonie.system.files import atomic_write

KEY, CHECKSUM = "gonie", "checksum"


def write_tensors(
    path: Path, tensors: Mapping[str, Tensor], metadata: Mapping[str, str] | None = None
) -> None:
    """Write ``tensors``, with ``metadata`` beside them."""
    plain = {name: tensor.detach().cpu().contiguous() for name, tensor in tensors.items()}
    entries = dict(metadata or {})
    atomic_write(path, save(plain, {KEY: json.dumps({**entries, CHECKSUM: _checksum(plain, entries)})}))


def read_tensors(path: Path) -> tuple[dict[str, Tensor], dict[str, str]]:
    """The tensors and the metadata that ``write_tensors`` wrote; a damaged file is a ``BundleError``."""
    try:
        with safe_open(path, framework="pt") as file:
            metadata = json.loads((file.metadata() or {}).get(KEY, "{}"))
            tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118 (not a mapping)
    except (OSError, ValueError, SafetensorError) as error:
        raise BundleError(f"{path}: expected a file of weights, got {error}") from error
    if not isinstance(metadata, dict) or metadata.pop(CHECKSUM, None) != _checksum(tensors, metadata):
        raise BundleError(f"{path}: expected the weights that were written, got a damaged file")
    return tensors, metadata


def moving_tensors(model: nn.Module) -> dict[str, Tensor]:
    """What training changes in ``model``: parameters that are trained, and buffers that parts say move.

    The others, such as a language model's, are what the recipe and its files give to any fresh model.
    """
    moved = {
        f"{name}.{buffer}": part.get_buffer(buffer)
        for name, part in model.named_modules()
        for buffer in getattr(part, "moves", ())
    }
    return {name: p for name, p in model.named_parameters() if p.requires_grad} | moved


def save_weights(path: Path, model: nn.Module) -> None:
    """Write every parameter and buffer of ``model``, whole or not at all."""
    write_tensors(path, model.state_dict())


def load_weights(path: Path, model: nn.Module) -> None:
    """Read what ``save_weights`` wrote into ``model``, which must have the same shape."""
    tensors, _ = read_tensors(path)
    try:
        model.load_state_dict(tensors)
    except RuntimeError as error:
        raise BundleError(
            f"{path}: expected the weights of this model, got {error}. Train it again."
        ) from error


def _checksum(tensors: Mapping[str, Tensor], metadata: Mapping[str, str]) -> str:
    """CRC-32 over the metadata and over all tensors in the order of their names, in hexadecimal."""
    value = zlib.crc32(json.dumps(metadata, sort_keys=True).encode())
    for name in sorted(tensors):
        value = zlib.crc32(name.encode(), value)
        value = zlib.crc32(tensors[name].reshape(-1).view(torch.uint8).numpy().data, value)
    return f"{value:08x}"
