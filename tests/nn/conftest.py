"""Fixtures for the tests of network parts: random batches, random weights and saved weights."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file, save_file
from torch import Tensor, nn

Batch = dict[str, Tensor]
DEVICES = [
    "cpu",
    pytest.param("cuda", marks=pytest.mark.skipif(not torch.cuda.is_available(), reason="no GPU")),
]


@pytest.fixture(autouse=True)
def seeded() -> Iterator[None]:
    """Seed torch before each test, and restore the default dtype after it."""
    torch.manual_seed(20260)
    yield
    torch.set_default_dtype(torch.float32)


@pytest.fixture(params=DEVICES)
def device(request: pytest.FixtureRequest) -> str:
    """Return the CPU, and the GPU if there is one."""
    return str(request.param)


@pytest.fixture(autouse=torch.cuda.is_available())
def full_float32() -> Iterator[None]:
    """Turn off TF32 in cuDNN, so that float32 results can be compared at full precision."""
    parts = (torch.backends.cudnn.rnn, torch.backends.cudnn.conv)
    before = [part.fp32_precision for part in parts]
    for part in parts:
        part.fp32_precision = "ieee"
    yield
    for part, precision in zip(parts, before, strict=True):
        part.fp32_precision = precision


@pytest.fixture
def make_batch() -> Callable[..., Batch]:
    """Make padded batches of random sentences, with every input that a part may read."""
    return batch_of


@pytest.fixture
def scramble() -> Callable[[nn.Module], nn.Module]:
    """Set all weights at random, also those that are initially zero. Padding rows stay zero."""
    return scrambled


@pytest.fixture
def through_a_file(tmp_path: Path) -> Callable[[nn.Module, nn.Module], nn.Module]:
    """Copy weights from one part to another through a safetensors file."""

    def move(source: nn.Module, target: nn.Module) -> nn.Module:
        path = tmp_path / "weights.safetensors"
        save_file({name: value.contiguous() for name, value in source.state_dict().items()}, path)
        target.load_state_dict(load_file(path))
        return target

    return move


def mask_of(lengths: list[int]) -> Tensor:
    return torch.arange(max(lengths)) < torch.tensor(lengths).unsqueeze(1)


def batch_of(
    lengths: list[int], *, words: int = 12, forms: int = 40, features: int = 9, tags: int = 5
) -> Batch:
    mask = mask_of(lengths)
    char_lengths = torch.randint(1, 15, (forms,))
    real = torch.arange(int(char_lengths.max())) < char_lengths.unsqueeze(1)
    counts = torch.randint(0, 4, mask.shape) * mask  # features per position; padding has none
    total = int(counts.sum())
    return {
        "mask": mask,
        "lengths": torch.tensor(lengths),
        "words": torch.randint(1, words, mask.shape) * mask,
        "forms": torch.randint(0, forms, mask.shape) * mask,
        "chars": torch.randint(1, 20, real.shape) * real,
        "char_lengths": char_lengths,
        "bytes": torch.randint(1, 262, (2 + forms, 8)),
        "spelling.ids": torch.randint(0, features, (total,)),
        "spelling.offsets": torch.cat([torch.zeros(1, dtype=torch.long), counts.flatten().cumsum(0)]),
        "tags": torch.randint(0, tags, mask.shape).where(mask, -1),
        "external": torch.randn(*mask.shape, 5) * mask.unsqueeze(2),
        **_pieces_of(mask),
    }


def _pieces_of(mask: Tensor) -> Batch:
    """Return up to three sub-words of each token, one window per sentence, between a begin and an end."""
    counts = torch.randint(0, 4, mask.shape) * mask
    sizes = counts.sum(1)  # (B,)
    longest = int(sizes.max()) + 2
    own = torch.arange(longest) < (sizes + 2).unsqueeze(1)
    begins = torch.arange(len(mask)).unsqueeze(1) * longest + 1 + counts.cumsum(1) - counts  # (B, T)
    ids = [
        begin + torch.arange(count) for begin, count in zip(begins.flatten(), counts.flatten(), strict=True)
    ]
    return {
        "pieces": torch.randint(1, 30, own.shape) * own,
        "pieces_mask": own,
        "pieces.ids": torch.cat(ids),
        "pieces.offsets": torch.cat([torch.zeros(1, dtype=torch.long), counts.flatten().cumsum(0)]),
    }


def scrambled(part: nn.Module) -> nn.Module:
    with torch.no_grad():
        for name, weight in part.named_parameters():
            weight.normal_(std=0.5)
            if name.endswith("characters.weight"):
                weight[0] = 0.0
    return part
