"""Running out of memory, under the one name that callers know."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import torch

# PyTorch has a class of its own for the GPU only; on the CPU it raises RuntimeError with one of these.
REFUSALS = ("allocate memory", "not enough memory", "Storage size calculation overflowed")


@contextmanager
def memory_errors() -> Iterator[None]:
    """Within the block, PyTorch's ways to say that memory is short are ``MemoryError``."""
    try:
        yield
    except RuntimeError as error:
        if isinstance(error, torch.OutOfMemoryError) or any(words in str(error) for words in REFUSALS):
            raise MemoryError(str(error)) from error
        raise
