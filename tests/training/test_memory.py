"""Out of memory has one name, whichever way PyTorch says it; other errors keep theirs."""

from __future__ import annotations

import pytest
import torch

from gonie.training.memory import memory_errors


@pytest.mark.parametrize("size", [10**14, 2**62])
def test_more_than_there_is(size: int) -> None:
    """A real allocation that no machine can make, and one that overflows."""
    with pytest.raises(MemoryError), memory_errors():
        torch.empty(size, 2)


def test_a_gpu_that_is_full() -> None:
    with pytest.raises(MemoryError), memory_errors():
        raise torch.OutOfMemoryError("CUDA out of memory")


def test_other_errors_pass() -> None:
    """A bug must not look like a small machine."""
    with pytest.raises(RuntimeError, match="mat1 and mat2"), memory_errors():
        torch.ones(2, 3) @ torch.ones(2, 3)
