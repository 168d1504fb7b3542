"""Memory of a process that has finished loading."""

from __future__ import annotations

import ctypes
import gc
import sys

OBJECTS = 5_000
"""New objects after which garbage is collected. Python's 700 cost a busy service some 3 % of its time."""


def settle() -> None:
    """Return free memory to the system, and leave what was loaded out of garbage collection.

    A collection that visits all loaded modules takes tens of milliseconds, which a request would wait for.
    """
    gc.collect()
    gc.freeze()
    gc.set_threshold(OBJECTS, *gc.get_threshold()[1:])
    if sys.platform == "linux":
        trim = getattr(ctypes.CDLL(None), "malloc_trim", None)  # glibc has it
        if trim is not None:
            trim(0)
