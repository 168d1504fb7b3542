"""Which optional libraries are installed, without importing them."""

from __future__ import annotations

from functools import cache
from importlib.util import find_spec


@cache
def has_numba() -> bool:
    """Whether loops can be compiled for the CPU; where not, plain torch operations do the same."""
    return all(find_spec(name) is not None for name in ("numba", "scipy", "threadpoolctl"))


@cache
def has_triton() -> bool:
    """Whether kernels can be compiled for a GPU."""
    return find_spec("triton") is not None
