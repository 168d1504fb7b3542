"""Loops compiled for the CPU by Numba: decorators, exponential functions and threading.

A compiled function works on numpy arrays, never on Python objects, and releases the GIL, so that ordinary
threads can run several at once. It is compiled on its first call, which takes seconds, and cached on disk
next to the source (or in the user's cache folder) for later processes. Functions of this file are inlined
into their callers. After changing one, touch the files that use it, because Numba checks only the date of the
calling file.
"""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager
from functools import cache
from pathlib import Path
from typing import Any, TypeVar, cast

import numba
import numpy as np
import torch
from llvmlite import ir
from numba.extending import intrinsic, overload
from numpy.typing import NDArray
from threadpoolctl import ThreadpoolController

Function = TypeVar("Function", bound=Callable[..., Any])
Result = TypeVar("Result")

REORDER = {"contract", "reassoc", "arcp", "nsz"}
"""Permitted optimisations of sums and products. NaN and infinity are kept, so that divergence is visible."""

ZERO, ONE, TWO = np.float32(0.0), np.float32(1.0), np.float32(2.0)
LOWEST, HIGHEST = np.float32(-87.0), np.float32(88.0)  # the range in which float32 holds e^x in full


def compiled(function: Function) -> Function:
    """Decorator: compile a loop over numpy arrays to machine code."""
    made = numba.njit(nogil=True, cache=True, fastmath=REORDER, error_model="numpy")(function)
    _ignore_stale_index(made)
    return cast("Function", made)


def _ignore_stale_index(made: Any) -> None:
    """Treat a cache index that cannot be unpickled as empty, so that the loop is compiled again.

    The index names the classes of a loop's arguments. After an upgrade they may be gone, and Numba looks at
    the date of the source only after unpickling.
    """
    file = getattr(made._cache, "_cache_file", None)
    if file is None:  # there is no folder that a cache can be written to
        return
    load = file._load_index

    def load_index() -> Any:
        try:
            return load()
        except (AttributeError, ImportError):
            return {}

    file._load_index = load_index


def is_on_disk(function: Callable[..., Any]) -> bool:
    """Return whether a compiled loop is cached on disk, so that its first call does not take seconds."""
    made = cast("Any", function)
    return any(Path(made.stats.cache_path).glob(f"*.{made.py_func.__name__}-*.nbi"))


def inlined(function: Function) -> Function:
    """Decorator: compile arithmetic on single numbers, inlined into the calling loops."""
    made = numba.njit(inline="always", fastmath=REORDER, error_model="numpy")(function)
    return cast("Function", made)


@intrinsic
def _as_float(_: Any, bits: Any) -> Any:
    """Reinterpret 32 bits as a float32."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return builder.bitcast(args[0], ir.FloatType())

    return numba.types.float32(numba.types.int32), generate


@inlined
def _power(n: np.int32) -> np.float32:
    """Return 2^n, written directly into the bits of the exponent."""
    return _as_float((n + np.int32(127)) << np.int32(23))  # type: ignore[call-arg]


@inlined
def exp(x: np.float32) -> np.float32:
    """Return e^x in float32, to 2 units in the last place. A loop over it is vectorised.

    2^n e^r with n = round(x / ln 2) and |r| <= ln 2 / 2, e^r by the polynomial of Cephes' expf. Below -87 it
    is 0, above 88 it stays at e^88, and NaN is NaN.
    """
    vanishes = x < LOWEST
    x = LOWEST if vanishes else x
    x = HIGHEST if x > HIGHEST else x
    n = np.rint(x * np.float32(1.4426950408889634))
    r = x - n * np.float32(0.693359375)  # ln 2 in two parts, the first exact in few bits
    r = r + n * np.float32(2.12194440e-4)
    p = np.float32(1.9875691500e-4)
    p = p * r + np.float32(1.3981999507e-3)
    p = p * r + np.float32(8.3334519073e-3)
    p = p * r + np.float32(4.1665795894e-2)
    p = p * r + np.float32(1.6666665459e-1)
    p = p * r + np.float32(5.0000001201e-1)
    p = p * r * r + r + ONE
    return ZERO if vanishes else p * _power(np.int32(n))


@inlined
def sigmoid(x: np.float32) -> np.float32:
    """Return 1 / (1 + e^-x)."""
    return ONE / (ONE + exp(-x))


@inlined
def tanh(x: np.float32) -> np.float32:
    """Return 2 / (1 + e^-2x) - 1."""
    return TWO / (ONE + exp(-TWO * x)) - ONE


def exp_in_place(values: NDArray[Any]) -> None:
    """Replace each value of a row of float32 or float64 by e^x. Compiled loops call the overload below."""
    np.exp(values, out=values)


@overload(exp_in_place, jit_options={"fastmath": REORDER, "error_model": "numpy"})
def _exp_in_place(values: Any) -> Callable[[Any], None]:
    def single(values: Any) -> None:
        for i in range(len(values)):
            values[i] = exp(values[i])

    def double(values: Any) -> None:
        for i in range(len(values)):
            values[i] = math.exp(values[i])

    return single if values.dtype == numba.float32 else double


def run_in_parallel(tasks: Iterable[Callable[[], Result]]) -> list[Result]:
    """Run compiled loops in parallel, on at most as many threads as torch uses. Return results in order."""
    first, *rest = tasks
    threads = min(torch.get_num_threads() - 1, len(rest))  # besides the current thread
    if threads == 0:
        return [first(), *(task() for task in rest)]
    pool = _threads(os.getpid(), threads)
    others = [pool.submit(task) for task in rest]
    return [first(), *(other.result() for other in others)]


def single_threaded_blas() -> AbstractContextManager[Any]:
    """Return a context in which matrix products run in the calling thread only."""
    return cast("AbstractContextManager[Any]", _blas().limit(limits=1, user_api="blas"))


@cache
def _threads(process: int, number: int) -> ThreadPoolExecutor:
    """Return a thread pool. A forked process has lost its parent's threads, so it creates its own."""
    return ThreadPoolExecutor(number, thread_name_prefix=f"gonie-{process}")


@cache
def _blas() -> ThreadpoolController:
    """Return the loaded BLAS libraries, looked up once."""
    import scipy.linalg.blas  # noqa: F401  used by Numba's matrix products

    return ThreadpoolController()
