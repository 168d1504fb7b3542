"""Workers start without taking processor time from those that serve, and answer what has arrived."""

from __future__ import annotations

import os
import socket
import sys
import threading

import pytest

from gonie.serve import worker
from gonie.serve.batch_worker import batches
from gonie.serve.channel import Receiver, pack
from gonie.serve.checks import Received
from gonie.serve.limits import BATCH_BYTES, BATCH_REQUESTS

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


@pytest.mark.parametrize("body", [b"a", b"a" * (BATCH_BYTES // 10), b"a" * (3 * BATCH_BYTES)])
def test_a_batch_has_what_has_arrived_within_its_limits(body: bytes) -> None:
    """Requests stay in order, and none is lost or waits for others."""
    ours, theirs = socket.socketpair()
    with ours, theirs:
        found = batches(Receiver(theirs))
        for _ in range(2):
            sent = [Received("batch", f"n={number}", body, number) for number in range(2 * BATCH_REQUESTS)]
            messages = [
                pack({"requests": [["batch", each.query, each.row, len(body)]]}, [body]) for each in sent
            ]
            thread = threading.Thread(target=ours.sendall, args=[b"".join(messages)])
            thread.start()
            got: list[Received] = []
            while len(got) < len(sent):
                batch = next(found)
                assert len(batch) <= max(1, min(BATCH_REQUESTS, BATCH_BYTES // len(body)))
                got += batch
            thread.join()
            assert got == sent
        ours.close()
        assert list(found) == []
