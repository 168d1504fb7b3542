"""Hired processes: they answer, and none is left, whatever ends the block or the process that hired them."""

from __future__ import annotations

import importlib
import multiprocessing
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from types import ModuleType

import pytest

from gonie.errors import GonieError
from gonie.system.worker_pool import Hired, cores, hired, run

WORK = """
import time
from gonie.system.worker_pool import hired
from gonie.errors import InputError

def double(pipe, plus):
    while True:
        number = pipe.recv()
        if number < 0:
            raise InputError(expected="a count", got=str(number))
        pipe.send(2 * number + plus)

def sleep_long(pipe):
    pipe.send("here")
    time.sleep(100)

if __name__ == "__main__":
    with hired(2, sleep_long) as crew:
        print(*(each.process.pid for each in crew), flush=True)
        time.sleep(100)
"""


@pytest.fixture
def work(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """A module that new processes can import, which those of the tests are not."""
    (tmp_path / "hired_work.py").write_text(WORK)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, "hired_work", raising=False)
    return importlib.import_module("hired_work")


def lives(pid: int) -> bool:
    """Is there a process of that number that is more than a record of its end?"""
    status = Path(f"/proc/{pid}/stat")
    return status.exists() and status.read_text().rsplit(")", 1)[1].split()[0] != "Z"


@pytest.mark.slow
def test_they_answer_and_end_with_the_block(work: ModuleType) -> None:
    with hired(2, work.double, 1) as crew:
        for number, each in enumerate(crew):
            each.pipe.send(number)
        assert [each.answer() for each in crew] == [1, 3]
    assert [each.process.exitcode for each in crew] == [0, 0]


@pytest.mark.slow
def test_what_a_process_meets_is_raised_where_it_is_asked(work: ModuleType) -> None:
    """What a user can mend is a sentence, what not has the trace of the process where it happened."""
    with hired(2, work.double, 1) as (first, second):
        first.pipe.send(-1)
        with pytest.raises(GonieError, match="expected a count, got -1"):
            first.answer()
        second.pipe.send("a")
        with pytest.raises(RuntimeError, match=r"in double(.|\n)*TypeError"):
            second.answer()
        with pytest.raises((EOFError, OSError)):
            second.answer()


def test_a_process_ends_when_nobody_is_at_the_other_end(work: ModuleType) -> None:
    ours, theirs = multiprocessing.Pipe()
    ours.send(3)
    ours.close()
    run(work.double, theirs, 1)


def test_cores_are_those_that_this_process_may_use(monkeypatch: pytest.MonkeyPatch) -> None:
    """In a container with two of 64, 64 processes would only wait for each other."""
    monkeypatch.setattr(os, "sched_getaffinity", lambda pid: {3, 5}, raising=False)
    assert cores() == 2


@pytest.mark.slow
def test_an_error_in_the_block_ends_those_at_work(work: ModuleType) -> None:
    crew: list[Hired] = []

    def interrupted() -> None:
        with hired(1, work.sleep_long) as all_of_them:
            crew.extend(all_of_them)
            assert crew[0].answer() == "here"
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        interrupted()
    assert crew[0].ended() == f"by signal {signal.SIGTERM}"
    assert not multiprocessing.active_children()


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="looks at processes in /proc")
def test_they_end_with_a_process_that_is_killed(work: ModuleType) -> None:
    """Left behind, they would hold memory and write into folders that a new run has taken over."""
    script = str(work.__file__)
    with subprocess.Popen([sys.executable, script], stdout=subprocess.PIPE, text=True) as parent:
        assert parent.stdout is not None
        pids = [int(pid) for pid in parent.stdout.readline().split()]
        assert len(pids) == 2
        os.kill(parent.pid, signal.SIGKILL)
    for _ in range(600):
        if not any(map(lives, pids)):
            break
        time.sleep(0.05)
    assert not any(map(lives, pids))
