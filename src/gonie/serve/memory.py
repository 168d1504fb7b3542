"""Memory of a process that has finished loading."""

from __future__ import annotations

import ctypes
import gc
import sys


def settle() -> None:
    """Return free memory to the system, and leave what was loaded out of garbage collection.

    A collection that visits all loaded modules takes tens of milliseconds, which a request would wait for.
    """
    gc.collect()
    gc.freeze()
    if sys.platform == "linux":
        trim = getattr(ctypes.CDLL(None), "malloc_trim", None)  # glibc has it
        if trim is not None:
            trim(0)
