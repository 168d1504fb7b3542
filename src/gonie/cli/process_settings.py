"""Thread and memory settings of the process, set before PyTorch is imported where possible.

A training step frees hundreds of megabytes that the next step allocates again. By default glibc returns large
blocks to the system at once, and the kernel clears each page before it is handed out again. For a step over
32 full-length film reviews, this took a quarter of the processor time.
"""

from __future__ import annotations

import ctypes
import os
import platform
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Event, Thread

MALLOC_SETTINGS = {
    "MALLOC_ARENA_MAX": (-8, 1),  # one heap for all threads: per-thread heaps cannot hold a large block
    "MALLOC_MMAP_MAX_": (-4, 0),  # allocate every block from the heap
    "MALLOC_TRIM_THRESHOLD_": (-1, -1),  # never shrink the heap
}
"""glibc settings by environment variable: the ``mallopt`` number and the value (mallopt(3))."""


def limit_spinning() -> None:
    """Make idle OpenMP threads sleep soon instead of spinning. Values set by the user are kept.

    On a busy machine, spinning threads take the cores from the threads they wait for. A training run fell
    from 17,000 to 600 tokens/s. With this setting it kept 17,000 on an idle machine, and 6,700 with one other
    busy core.
    """
    os.environ.setdefault("GOMP_SPINCOUNT", "1000")
    os.environ.setdefault("CUBLAS_WORKSPACE_CONFIG", ":4096:8")  # required by deterministic cuBLAS


def keep_freed_memory() -> None:
    """Keep freed memory for the next step, in this process and in its child processes.

    Peak memory stays the same, but is held until the process ends. Values set by the user are kept. Has no
    effect on systems without glibc.
    """
    if platform.libc_ver()[0] != "glibc":
        return
    mallopt = ctypes.CDLL(None).mallopt
    for name, (number, value) in MALLOC_SETTINGS.items():
        if name not in os.environ:
            mallopt(number, value)
            os.environ[name] = str(value)


@contextmanager
def training_settings() -> Iterator[None]:
    """Apply all settings during the block, also if the user has imported PyTorch before."""
    imported = "torch" in sys.modules
    limit_spinning()
    keep_freed_memory()
    if not imported:
        yield
        return
    with _throttled_threads():
        yield


@contextmanager
def _throttled_threads() -> Iterator[None]:
    """Limit the spinning of GNU OpenMP, which has read its environment variables already.

    It spins for 1,000 rounds instead of 300,000 while it manages more threads than the machine has cores. So
    a second team of threads is started, and kept asleep during the block. 20,000 small operations on a
    machine with one other busy core took 3 s with it, and 50 s without.
    """
    import torch

    started, done = Event(), Event()

    def keep_team() -> None:
        torch.ones(1 << 20).add_(1)  # large enough for all threads
        started.set()
        done.wait()

    thread = Thread(target=keep_team, name="gonie-throttle", daemon=True)
    thread.start()
    started.wait()
    try:
        yield
    finally:
        done.set()
        thread.join()
