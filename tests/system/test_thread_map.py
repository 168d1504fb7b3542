"""Work on several threads: all of it, in order, and no longer than it has to be."""

from __future__ import annotations

import os
import threading

import pytest

from gonie.system.thread_map import cores, thread_map


@pytest.mark.parametrize("threads", [1, 2, 5])
@pytest.mark.parametrize("number", [0, 1, 2, 50])
def test_results_come_in_the_order_of_the_items(threads: int, number: int) -> None:
    assert list(thread_map(lambda item: item * item, range(number), threads=threads)) == [
        item * item for item in range(number)
    ]


def test_two_work_at_the_same_time() -> None:
    """Each waits for the other: one after the other they would wait for ever."""
    together = threading.Barrier(2, timeout=30)
    assert len(list(thread_map(lambda item: together.wait(), range(2), threads=2))) == 2


def test_a_single_item_stays_where_it_is() -> None:
    """A sentence on its own should not wait for threads to start."""
    assert list(thread_map(lambda item: threading.get_ident(), range(1), threads=4)) == [
        threading.get_ident()
    ]


def test_an_error_ends_it_and_nobody_is_left_behind() -> None:
    begun = []

    def work(item: int) -> int:
        begun.append(item)
        return 1 // item

    before = threading.active_count()
    with pytest.raises(ZeroDivisionError):
        list(thread_map(work, range(1000), threads=2))
    assert threading.active_count() == before
    assert len(begun) < 1000


def test_cores_are_those_that_this_process_may_use(monkeypatch: pytest.MonkeyPatch) -> None:
    """In a container with two of 64, 64 processes would only wait for each other."""
    assert 1 <= cores() <= (os.cpu_count() or 1)
    monkeypatch.setattr(os, "sched_getaffinity", lambda pid: {3, 5}, raising=False)
    assert cores() == 2
