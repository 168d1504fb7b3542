"""Workers start without taking processor time from those that serve."""

from __future__ import annotations

import os
import sys

import pytest

from gonie.serve import worker

linux = pytest.mark.skipif(sys.platform != "linux", reason="only Linux has this policy")


@linux
def test_a_worker_in_the_background_yields_only_while_it_loads() -> None:
    """Otherwise a service under load would answer with new workers much more slowly."""
    if not worker._may_return():
        pytest.skip("this process may not leave the idle policy again")
    with worker._yielding(True):
        assert os.sched_getscheduler(0) == os.SCHED_IDLE
    assert os.sched_getscheduler(0) == os.SCHED_OTHER


@linux
def test_a_worker_without_a_way_back_does_not_yield(monkeypatch: pytest.MonkeyPatch) -> None:
    """In most containers, a worker could not leave the idle policy again."""
    monkeypatch.setattr(worker, "_may_return", lambda: False)
    with worker._yielding(True):
        assert os.sched_getscheduler(0) == os.SCHED_OTHER
    monkeypatch.undo()
    with worker._yielding(False):
        assert os.sched_getscheduler(0) == os.SCHED_OTHER
