"""Tests the peak memory of the process, with real allocations."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest

from gonie.system.peak_memory import PeakMemory

SIZE = 2**26


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux can reset the peak")
def test_the_peak_is_that_since_the_reset() -> None:
    memory = PeakMemory()
    memory.reset()
    if not memory.was_reset:
        pytest.skip("this system does not allow to reset the peak")
    before = memory.read()
    block = np.ones(SIZE, dtype=np.uint8)
    del block
    peak = memory.read()
    assert before is not None
    assert peak is not None
    assert peak - before > SIZE // 2, "memory that is freed again counts"
    memory.reset()
    after = memory.read()
    assert after is not None
    assert after < peak, "but not for the next run"


def test_without_a_reset_the_peak_is_that_of_the_process(tmp_path: Path) -> None:
    memory = PeakMemory(tmp_path)
    memory.reset()
    assert not memory.was_reset
    assert not list(tmp_path.iterdir())
    peak = memory.read()
    assert peak is not None
    assert peak > 2**20, "bytes, not kilobytes"
