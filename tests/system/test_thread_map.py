"""Mapping on several threads: all results, in order."""

from __future__ import annotations

import os
import threading
import time

import pytest

from gonie.system.thread_map import cores, thread_map


@pytest.mark.parametrize("threads", [1, 2, 5])
@pytest.mark.parametrize("number", [0, 1, 2, 50])
def test_results_are_in_the_order_of_the_items(threads: int, number: int) -> None:
    assert list(thread_map(lambda item: item * item, range(number), threads=threads)) == [
        item * item for item in range(number)
    ]


def test_two_items_are_processed_at_the_same_time() -> None:
    """Each item waits for the other, so sequential work would never end."""
    together = threading.Barrier(2, timeout=30)
    assert len(list(thread_map(lambda item: together.wait(), range(2), threads=2))) == 2


def test_a_single_item_is_processed_in_the_calling_thread() -> None:
    """A single sentence should not wait for threads to start."""
    assert list(thread_map(lambda item: threading.get_ident(), range(1), threads=4)) == [
        threading.get_ident()
    ]


def test_an_error_stops_the_work_and_ends_all_threads() -> None:
    begun = []

    def work(item: int) -> int:
        begun.append(item)
        if item:
            time.sleep(0.01)  # all items together take seconds, and the error is there at once
        return 1 // item

    before = threading.active_count()
    with pytest.raises(ZeroDivisionError):
        list(thread_map(work, range(1000), threads=2))
    assert threading.active_count() == before
    assert len(begun) < 1000


def test_only_cores_available_to_the_process_are_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    """In a container with two of 64 cores, 64 processes would only wait for each other."""
    assert 1 <= cores() <= (os.cpu_count() or 1)
    monkeypatch.setattr(os, "sched_getaffinity", lambda pid: {3, 5}, raising=False)
    assert cores() == 2
