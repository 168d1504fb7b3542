"""Memory that a process keeps for its next step instead of giving it back to the system.

A step of training frees hundreds of megabytes that the next one asks for again. By its defaults glibc gives
large blocks back at once, and the kernel clears each of their pages before it hands them out anew: of a step
over 32 whole film reviews that was a quarter of the processor's time.
"""

from __future__ import annotations

import ctypes
import os
import platform

SETTINGS = {
    "MALLOC_ARENA_MAX": (-8, 1),  # one heap for all threads: those of others cannot hold a large block
    "MALLOC_MMAP_MAX_": (-4, 0),  # every block from the heap
    "MALLOC_TRIM_THRESHOLD_": (-1, -1),  # which is never cut back
}
"""What glibc calls a setting in the environment, what ``mallopt`` calls it, and its value (mallopt(3))."""


def keep_heap() -> None:
    """Keep freed memory, here and in the processes that this one starts.

    The most that is ever in use stays the same, but it is held until the process ends. A value that the user
    has set is left alone, and so are systems without glibc.
    """
    if platform.libc_ver()[0] != "glibc":
        return
    mallopt = ctypes.CDLL(None).mallopt
    for name, (number, value) in SETTINGS.items():
        if name not in os.environ:
            mallopt(number, value)
            os.environ[name] = str(value)
