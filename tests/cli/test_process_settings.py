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


TEAMS = """
import threading
import torch
from gonie.cli.process_settings import training_settings
with training_settings():
    print([thread.name for thread in threading.enumerate()])
print([thread.name for thread in threading.enumerate()])
"""


def test_a_second_team_of_threads_is_kept_if_torch_was_imported_before() -> None:
    """GNU OpenMP spins less while it manages more threads than cores, which is a matter of speed alone."""
    done = subprocess.run([sys.executable, "-c", TEAMS], check=True, capture_output=True, text=True)
    inside, after = done.stdout.splitlines()
    assert "gonie-throttle" in inside
    assert "gonie-throttle" not in after
