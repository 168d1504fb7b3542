"""The worker pool: every item is processed once, and no process is left at the end."""

from __future__ import annotations

import importlib
import multiprocessing
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from multiprocessing.context import SpawnProcess
from pathlib import Path
from threading import Timer
from types import ModuleType
from typing import Any

import pytest

from gonie.errors import GonieError
from gonie.system.worker_pool import (
    AHEAD,
    WorkerCrashed,
    WorkerEvent,
    WorkerLostError,
    WorkerPool,
    WorkerRefused,
    WorkerResult,
    serve,
    worker_pool,
)

WORK = """
import os, signal, time
from pathlib import Path
from gonie.system.worker_pool import worker_pool
from gonie.errors import InputError

def start(tell, plus):
    def double(number):
        if number < 0:
            raise InputError(f"expected a count, got {number}")
        for _ in range(6000 if number == 0 else 0):
            if Path(__file__).with_name("go_on").exists():
                break
            time.sleep(0.01)
        tell(f"doubling {number}")
        return 2 * number + plus
    return double

def start_sleeping(tell):
    def sleep(seconds):
        tell(os.getpid())
        time.sleep(seconds)
    return sleep

def start_saving(tell, place):
    asked = []
    signal.signal(signal.SIGTERM, lambda *_: asked.append(True))
    def save(item):
        tell("here")
        while not asked:
            time.sleep(0.01)
        for _ in range(1000):
            tell("x" * 1000)
        open(place, "a").write("saved")
        return False
    return save

if __name__ == "__main__":
    with worker_pool(2, start_sleeping) as pool:
        print(*(worker.process.pid for worker in pool.workers), flush=True)
        list(pool.map([100, 100]))
"""


@pytest.fixture
def work(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """A module that worker processes can import, unlike test modules."""
    (tmp_path / "pool_work.py").write_text(WORK)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, "pool_work", raising=False)
    return importlib.import_module("pool_work")


def lives(pid: int) -> bool:
    """Whether the process exists and is not a zombie."""
    status = Path(f"/proc/{pid}/stat")
    return status.exists() and status.read_text().rsplit(")", 1)[1].split()[0] != "Z"


def test_every_item_is_processed_once(work: ModuleType, tmp_path: Path) -> None:
    """The first item takes until there is a file ``go_on``."""
    told: list[str] = []
    with worker_pool(2, work.start, 1) as pool:
        (tmp_path / "go_on").touch()
        assert list(pool.map(range(20), ordered=True)) == [2 * number + 1 for number in range(20)]
        (tmp_path / "go_on").unlink()
        results = pool.map(range(20), tell=told.append)
        first = [next(results) for _ in range(10)]
        assert 1 not in first, "the slow first item holds nobody up"
        (tmp_path / "go_on").touch()
        assert sorted([*first, *results]) == [2 * number + 1 for number in range(20)]
        assert list(pool.map([])) == []
    assert sorted(told) == sorted(f"doubling {number}" for number in range(20))
    assert [worker.process.exitcode for worker in pool.workers] == [0, 0]


def test_items_are_read_only_a_little_ahead(work: ModuleType, tmp_path: Path) -> None:
    """Reading ahead in a file of many gigabytes would fill the memory.

    The first item takes until the others are read as far ahead as allowed, and a little longer.
    """
    taken, go_on = 0, Timer(0.3, (tmp_path / "go_on").touch)

    def counted() -> Iterator[int]:
        nonlocal taken
        for number in range(40):
            taken += 1
            if taken == 2 * AHEAD:
                go_on.start()
            yield number

    with worker_pool(2, work.start, 1) as pool:
        for given, _ in enumerate(pool.map(counted(), ordered=True)):
            assert taken - given <= 2 * AHEAD
    go_on.join()


def test_errors_of_workers_are_raised(work: ModuleType) -> None:
    """User errors keep their message; other errors include the traceback of the worker."""
    with pytest.raises(GonieError, match="expected a count, got -1"), worker_pool(2, work.start, 1) as pool:
        list(pool.map([1, -1]))
    with (
        pytest.raises(RuntimeError, match=r"in double(.|\n)*TypeError"),
        worker_pool(1, work.start, 1) as pool,
    ):
        list(pool.map(["a"]))
    assert not multiprocessing.active_children()


def test_a_killed_worker_is_reported(work: ModuleType) -> None:
    """The kernel kills processes that run out of memory; waiting for their results would never end."""
    kill = lambda pid: os.kill(pid, signal.SIGKILL)  # noqa: E731
    with (
        pytest.raises(WorkerLostError, match=r"ended by signal 9.*Use fewer\.") as lost,
        worker_pool(1, work.start_sleeping, advice="Use fewer.") as pool,
    ):
        list(pool.map([100], tell=kill))
    assert lost.value.item == 100
    assert not multiprocessing.active_children()


def test_stopping_waits_for_workers_that_save(work: ModuleType, tmp_path: Path) -> None:
    """The worker saves on SIGTERM, as training does; no further item is assigned."""
    told: list[Any] = []
    with worker_pool(1, work.start_saving, tmp_path / "place") as pool:
        found = list(pool.map(range(3), tell=told.append, stop=lambda: bool(told)))
    assert found == [False]
    assert (tmp_path / "place").read_text() == "saved"


def test_stopping_ends_workers_that_do_not_save(work: ModuleType) -> None:
    told: list[Any] = []
    with worker_pool(2, work.start_sleeping) as pool:
        assert list(pool.map([100] * 3, tell=told.append, stop=lambda: len(told) == 2)) == []
    assert len(told) == 2


def test_an_error_in_the_block_ends_the_workers(work: ModuleType, tmp_path: Path) -> None:
    """This includes a worker that sends more than a pipe can hold before it ends."""
    pools: list[WorkerPool] = []

    def interrupted(start: Any, *arguments: Any) -> None:
        with worker_pool(1, start, *arguments) as pool:
            pools.append(pool)
            for _ in pool.map([100], tell=_interrupt):
                pass

    with pytest.raises(KeyboardInterrupt):
        interrupted(work.start_sleeping)
    assert pools[0].workers[0].ended() == f"by signal {signal.SIGTERM}"
    with pytest.raises(KeyboardInterrupt):
        interrupted(work.start_saving, tmp_path / "place")
    assert (tmp_path / "place").read_text() == "saved"
    assert not multiprocessing.active_children()


def _interrupt(event: Any) -> None:
    raise KeyboardInterrupt


def test_ctrl_c_while_a_worker_starts_is_not_lost(work: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    start = SpawnProcess.start

    def interrupted(process: SpawnProcess) -> None:
        os.kill(os.getpid(), signal.SIGINT)
        start(process)

    monkeypatch.setattr(SpawnProcess, "start", interrupted)
    before = signal.signal(signal.SIGINT, signal.default_int_handler)  # parallel tests ignore it
    try:
        with pytest.raises(KeyboardInterrupt), worker_pool(1, work.start, 1):
            pass
    finally:
        signal.signal(signal.SIGINT, before)


def test_a_new_map_is_refused_while_another_is_unfinished(work: ModuleType) -> None:
    with worker_pool(1, work.start, 1) as pool:
        assert next(iter(pool.map([1, 2, 3]))) == 3
        with pytest.raises(RuntimeError, match="not finished"):
            list(pool.map([4]))


@pytest.mark.long
@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="looks at processes in /proc")
def test_workers_end_when_their_parent_is_killed(work: ModuleType) -> None:
    """Otherwise they would use memory and write to folders that a new run uses."""
    script = str(work.__file__)
    with subprocess.Popen([sys.executable, script], stdout=subprocess.PIPE, text=True) as parent:
        assert parent.stdout is not None
        pids = [int(pid) for pid in parent.stdout.readline().split()]
        assert len(pids) == 2
        os.kill(parent.pid, signal.SIGKILL)
    for _ in range(1200):
        if not any(map(lives, pids)):
            break
        time.sleep(0.05)
    assert not any(map(lives, pids))


# --- a worker in this process -----------------


def said(work: ModuleType, *items: object) -> list[object]:
    """Return the answers of a worker that receives these items."""
    their_items, our_items = multiprocessing.Pipe(duplex=False)
    our_answers, their_answers = multiprocessing.Pipe(duplex=False)
    for item in items:
        our_items.send(item)
    our_items.close()
    serve(work.start, their_items, their_answers, 1)
    answers = []
    while our_answers.poll():
        answers.append(our_answers.recv())
    return answers


def test_a_worker_answers_until_the_items_end(work: ModuleType) -> None:
    assert said(work, 3) == [WorkerEvent("doubling 3"), WorkerResult(7)]
    assert said(work) == []
    assert said(work, -1) == [WorkerRefused("expected a count, got -1")]
    (crashed,) = said(work, "a")
    assert isinstance(crashed, WorkerCrashed)


def test_a_worker_ends_when_its_answers_are_not_read(work: ModuleType) -> None:
    their_items, our_items = multiprocessing.Pipe(duplex=False)
    our_answers, their_answers = multiprocessing.Pipe(duplex=False)
    our_items.send(3)
    our_answers.close()
    serve(work.start, their_items, their_answers, 1)
    assert not their_items.poll(), "the worker took its item before it ended"
