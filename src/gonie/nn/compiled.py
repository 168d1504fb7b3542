"""Loops compiled for the CPU by Numba: how they are compiled, their exponentials, and how they share cores.

A compiled function works on numpy arrays, never on Python objects, and lets go of the interpreter's lock, so
that plain threads run several at once. It is compiled when first called, which takes seconds, and kept on
disk beside the source (or in the user's cache folder) for every later process. Functions of this file are
built into those that call them: whoever changes one must touch the files that use it too, since Numba looks
only at the date of the calling file.
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
"""What the compiler may do to sums and products. NaN and infinity stay: training that diverges must show."""

ZERO, ONE, TWO = np.float32(0.0), np.float32(1.0), np.float32(2.0)
LOWEST, HIGHEST = np.float32(-87.0), np.float32(88.0)  # between which float32 holds e^x in full


def compiled(function: Function) -> Function:
    """Decorator: a loop over numpy arrays at the machine's speed."""
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
    """Whether an earlier process has kept a compiled loop, so that its first call will not take seconds."""
    made = cast("Any", function)
    return any(Path(made.stats.cache_path).glob(f"*.{made.py_func.__name__}-*.nbi"))


def inlined(function: Function) -> Function:
    """Decorator: arithmetic on single numbers, built into the loops that call it."""
    made = numba.njit(inline="always", fastmath=REORDER, error_model="numpy")(function)
    return cast("Function", made)


@intrinsic
def _as_float(_: Any, bits: Any) -> Any:
    """The float32 that 32 bits stand for."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return builder.bitcast(args[0], ir.FloatType())

    return numba.types.float32(numba.types.int32), generate


@inlined
def _power(n: np.int32) -> np.float32:
    """2^n, written straight into the bits of the exponent."""
    return _as_float((n + np.int32(127)) << np.int32(23))  # type: ignore[call-arg]


@inlined
def exp(x: np.float32) -> np.float32:
    """e^x in float32, to 2 units in the last place; a loop over it runs on all lanes of the processor.

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
    """1 / (1 + e^-x)."""
    return ONE / (ONE + exp(-x))


@inlined
def tanh(x: np.float32) -> np.float32:
    """2 / (1 + e^-2x) - 1."""
    return TWO / (ONE + exp(-TWO * x)) - ONE


def exp_in_place(values: NDArray[Any]) -> None:
    """e^x for each value of a row of float32 or float64; what a compiled loop calls instead is below."""
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


def side_by_side(tasks: Iterable[Callable[[], Result]]) -> list[Result]:
    """Runs compiled loops at once, on as many threads as torch may use; what they return, in order."""
    first, *rest = tasks
    threads = min(torch.get_num_threads() - 1, len(rest))  # besides this one
    if threads == 0:
        return [first(), *(task() for task in rest)]
    pool = _threads(os.getpid(), threads)
    others = [pool.submit(task) for task in rest]
    return [first(), *(other.result() for other in others)]


def blas_alone() -> AbstractContextManager[Any]:
    """While it lasts, matrix products stay in the thread that asks for them."""
    return cast("AbstractContextManager[Any]", _blas().limit(limits=1, user_api="blas"))


@cache
def _threads(process: int, number: int) -> ThreadPoolExecutor:
    """Threads that wait for work. A forked process has lost its parent's, and so makes its own."""
    return ThreadPoolExecutor(number, thread_name_prefix=f"gonie-{process}")


@cache
def _blas() -> ThreadpoolController:
    """The BLAS libraries that are loaded, looked up once."""
    import scipy.linalg.blas  # noqa: F401  what Numba's matrix products call

    return ThreadpoolController()
