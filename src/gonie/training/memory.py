"""Converting out-of-memory errors of PyTorch to ``MemoryError``."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import torch

# PyTorch has its own exception class only for the GPU. On the CPU it raises RuntimeError with one of these.
REFUSALS = ("allocate memory", "not enough memory", "Storage size calculation overflowed")


@contextmanager
def memory_errors() -> Iterator[None]:
    """Convert out-of-memory errors of PyTorch to ``MemoryError`` during the block."""
    try:
        yield
    except RuntimeError as error:
        if isinstance(error, torch.OutOfMemoryError) or any(words in str(error) for words in REFUSALS):
            raise MemoryError(str(error)) from error
        raise
