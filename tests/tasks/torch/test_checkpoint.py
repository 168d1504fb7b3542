"""Saving and loading weights: tensors are read back unchanged, and damaged files are refused."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch
from torch import nn

from gonie.errors import BundleError
from gonie.tasks.torch.checkpoint import load_weights, read_tensors, save_weights, write_tensors

TENSORS = {
    "matrix": torch.randn(3, 4),
    "turned": torch.randn(3, 4).t(),
    "scalar": torch.tensor(1.5, dtype=torch.float64),
    "none": torch.zeros(0, 3),
    "flags": torch.tensor([True, False]),
    "half": torch.randn(5).to(torch.bfloat16),
    "ids": torch.arange(4),
}


def test_tensors_of_every_kind_are_read_back(tmp_path: Path) -> None:
    path = tmp_path / "t.safetensors"
    write_tensors(path, TENSORS, {"note": "한글 and \n lines"})
    tensors, metadata = read_tensors(path)
    assert metadata == {"note": "한글 and \n lines"}
    assert tensors.keys() == TENSORS.keys()
    for name, tensor in TENSORS.items():
        assert tensors[name].dtype == tensor.dtype
        assert torch.equal(tensors[name], tensor)


def test_the_same_content_is_the_same_file(tmp_path: Path) -> None:
    """Runs are compared byte by byte."""
    metadata = {str(number): "x" for number in range(20)}
    for name in ("a", "b"):
        write_tensors(tmp_path / name, TENSORS, metadata)
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()


@pytest.mark.parametrize("place", [-1, -30, 3, 40])
def test_a_single_damaged_byte_is_detected(tmp_path: Path, place: int) -> None:
    path = tmp_path / "t.safetensors"
    write_tensors(path, {"a": torch.randn(50)}, {"note": "x"})
    content = bytearray(path.read_bytes())
    content[place] ^= 0x40
    path.write_bytes(content)
    with pytest.raises(BundleError, match=r"t\.safetensors: (damaged file|cannot read the weights)"):
        read_tensors(path)


@pytest.mark.parametrize("kept", [0, 7, 100, -1])
def test_a_truncated_file_is_refused(tmp_path: Path, kept: int) -> None:
    path = tmp_path / "t.safetensors"
    write_tensors(path, {"a": torch.randn(50)})
    path.write_bytes(path.read_bytes()[:kept])
    with pytest.raises(BundleError, match="cannot read the weights"):
        read_tensors(path)


def test_a_model_loads_its_saved_weights(tmp_path: Path) -> None:
    model, other = nn.Linear(3, 2), nn.Linear(3, 2)
    save_weights(tmp_path / "w", model)
    load_weights(tmp_path / "w", other)
    assert torch.equal(model.weight, other.weight)
    assert torch.equal(model.bias, other.bias)


@pytest.mark.parametrize("other", [nn.Linear(4, 2), nn.Linear(3, 2, bias=False), nn.Embedding(3, 2)])
def test_weights_of_another_model_are_refused(tmp_path: Path, other: nn.Module) -> None:
    """Loading only the weights that fit would give a half-trained model."""
    save_weights(tmp_path / "w", nn.Linear(3, 2))
    with pytest.raises(BundleError, match="the weights do not fit the model"):
        load_weights(tmp_path / "w", other)


def test_a_missing_file_is_refused_with_a_message(tmp_path: Path) -> None:
    with pytest.raises(BundleError, match="cannot read the weights"):
        load_weights(tmp_path / "missing", nn.Linear(3, 2))
