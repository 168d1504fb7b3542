"""Random numbers that several passes of a loss term share, such as their dropout masks."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import torch


@contextmanager
def random_numbers_kept(device: torch.device) -> Iterator[None]:
    """Give the code after the block the random numbers of the block."""
    with torch.random.fork_rng([device] if device.type == "cuda" else []):
        yield
