"""Tests the memory settings, which keep freed memory in the process for the next step.

Without them, the kernel clears every page that a step frees and allocates again.
"""

from __future__ import annotations

import os
import platform
import subprocess
import sys

import pytest

from gonie.cli.process_settings import MALLOC_SETTINGS

pytestmark = pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="glibc's settings")

STEPS = """
import resource, threading

def step():
    for _ in range(5):
        b"x" * 40_960_000

def faults():
    step()
    before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
    step()
    thread = threading.Thread(target=step)
    thread.start()
    thread.join()
    return resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before
"""
KEEP = "from gonie.cli.process_settings import keep_freed_memory; keep_freed_memory()"
PAGES = 10_000  # of 4 KiB, in one such block


def faults(program: str, **environment: str) -> int:
    """Return the page faults of ``program``, which allocates blocks of the same size repeatedly."""
    rest = {name: value for name, value in os.environ.items() if name not in MALLOC_SETTINGS}
    command = [sys.executable, "-c", f"{STEPS}\n{program}"]
    done = subprocess.run(command, env=rest | environment, check=True, capture_output=True, text=True)
    return int(done.stdout)


def test_freed_memory_is_reused() -> None:
    assert faults("print(faults())") > PAGES, "if this fails, glibc keeps memory by itself"
    assert faults(f"{KEEP}; print(faults())") < PAGES


def test_child_processes_inherit_the_settings() -> None:
    program = (
        f"import subprocess, sys; {KEEP}\n"
        "print(subprocess.check_output([sys.executable, '-c', sys.argv[1]], text=True))"
    )
    rest = {name: value for name, value in os.environ.items() if name not in MALLOC_SETTINGS}
    command = [sys.executable, "-c", program, f"{STEPS}\nprint(faults())"]
    done = subprocess.run(command, env=rest, check=True, capture_output=True, text=True)
    assert int(done.stdout) < PAGES


def test_settings_of_the_user_are_kept() -> None:
    program = f"{KEEP}; print(faults())"
    assert faults(program, MALLOC_MMAP_MAX_="65536", MALLOC_MMAP_THRESHOLD_="1000000") > PAGES


THREADS = ("GOMP_SPINCOUNT", "OMP_NUM_THREADS", "MKL_NUM_THREADS")
SMALL_STEPS = """
import os, subprocess, sys, time
cores = sorted(os.sched_getaffinity(0))[:2]
os.sched_setaffinity(0, cores)
import torch
from contextlib import nullcontext
from gonie.cli.process_settings import _throttled_threads
values = torch.randn(40_000)
other = f"import os; os.sched_setaffinity(0, {cores[1:]})\\nwhile True: pass"
busy = subprocess.Popen([sys.executable, "-c", other])
try:
    with _throttled_threads() if sys.argv[1] == "throttled" else nullcontext():
        time.sleep(0.5)  # until the other process is busy
        began = time.monotonic()
        for _ in range(3000):
            values.add(1).mul(2)
        print(time.monotonic() - began)
finally:
    busy.kill()
"""


@pytest.mark.skipif(len(os.sched_getaffinity(0)) < 2, reason="one core has no other threads")
def test_threads_sleep_soon_although_torch_was_imported_before() -> None:
    """With another busy process on one of two cores, spinning threads take the core that others wait for."""
    spent = {}
    for name in ("throttled", "free"):
        rest = {key: value for key, value in os.environ.items() if key not in THREADS}
        command = [sys.executable, "-c", SMALL_STEPS, name]
        done = subprocess.run(command, env=rest, check=True, capture_output=True, text=True)
        spent[name] = float(done.stdout)
    assert spent["throttled"] < 0.7 * spent["free"], spent
