"""Check which optional libraries are installed, without importing them."""

from __future__ import annotations

from functools import cache
from importlib.util import find_spec


@cache
def has_numba() -> bool:
    """Return whether loops can be compiled for the CPU. Without Numba, torch operations are used."""
    return all(find_spec(name) is not None for name in ("numba", "scipy", "threadpoolctl"))


@cache
def has_triton() -> bool:
    """Return whether kernels can be compiled for a GPU."""
    return find_spec("triton") is not None
