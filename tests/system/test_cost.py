"""Tests the meter of a run's cost: phases and sessions add up, and what is unknown stays unknown."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import replace
from itertools import count
from pathlib import Path
from typing import Any

import pytest
from tests.system.test_rapl import zone

from gonie.system.cost import CostMeter, RunCost
from gonie.system.peak_memory import PeakMemory
from gonie.system.rapl import PackageEnergy

BUSY = 0.05
PHASES = ("preparing_seconds", "training_seconds", "scoring_seconds", "finishing_seconds")
WHOLE = RunCost(
    wall_seconds=4.0,
    cpu_seconds=8.0,
    gpu_seconds=2.0,
    peak_memory_bytes=100,
    peak_gpu_memory_bytes=50,
    cpu_joules=30.0,
    gpu_joules=20.0,
    preparing_seconds=1.0,
    training_seconds=2.0,
    finishing_seconds=1.0,
)


def work(seconds: float = BUSY) -> None:
    """Use the CPU for some time."""
    end = time.process_time() + seconds
    while time.process_time() < end:
        pass


class CountingGpu:
    """A GPU whose energy rises by 1 J at each reading, and whose peak is 7 bytes."""

    def __init__(self) -> None:
        self._joules: Iterator[int] = count()
        self.resets = 0

    def reset_peak(self) -> None:
        self.resets += 1

    def peak(self) -> int:
        return 7

    def joules(self) -> float:
        return float(next(self._joules))


def test_the_phases_add_up_to_the_whole(tmp_path: Path) -> None:
    began = time.monotonic()
    with CostMeter(tmp_path / "cost.json") as meter:
        work()
        meter.begin("training")
        work()
        with meter.during("scoring"):
            work()
        work()
        meter.begin("finishing")
    spent, cost = time.monotonic() - began, meter.total()
    seconds = [getattr(cost, name) for name in PHASES]
    assert sum(seconds) == pytest.approx(cost.wall_seconds)
    assert cost.wall_seconds <= spent
    assert cost.training_seconds >= 2 * BUSY
    assert cost.preparing_seconds >= BUSY
    assert cost.scoring_seconds >= BUSY
    assert cost.cpu_seconds >= 4 * BUSY - 0.05  # the system counts in hundredths
    assert cost.gpu_seconds == 0.0
    assert cost.peak_gpu_memory_bytes is cost.gpu_joules is None
    assert cost.peak_memory_bytes is not None
    assert meter.total() == cost, "nothing is counted after the end"


def test_a_pause_costs_nothing(tmp_path: Path) -> None:
    began, used = time.monotonic(), time.process_time()
    with CostMeter(tmp_path / "cost.json") as meter:
        with meter.during(None):
            paused, idle = time.monotonic(), time.process_time()
            work(0.2)
            paused, idle = time.monotonic() - paused, time.process_time() - idle
        cost = meter.total()
    assert cost.wall_seconds <= time.monotonic() - began - paused
    assert cost.cpu_seconds <= time.process_time() - used - idle + 0.05  # the system counts in hundredths


def test_finished_child_processes_count(tmp_path: Path) -> None:
    code = "import time\nwhile time.process_time() < 0.3: pass"
    with CostMeter(tmp_path / "cost.json") as meter:
        subprocess.run([sys.executable, "-c", code], check=True)
    assert meter.total().cpu_seconds >= 0.28


def test_gpu_seconds_and_energy_are_those_with_the_model_on_the_gpu(tmp_path: Path) -> None:
    gpu = CountingGpu()
    with CostMeter(tmp_path / "cost.json", gpu=gpu) as meter:
        work()
        meter.begin("training")
        work()
        with meter.during("scoring"):
            work()
        meter.begin("finishing")
        work()
    cost = meter.total()
    assert cost.gpu_seconds == pytest.approx(cost.training_seconds + cost.scoring_seconds)
    assert cost.gpu_joules == 3.0
    assert cost.peak_gpu_memory_bytes == 7
    assert gpu.resets == 1


def test_energy_is_read_from_the_counters_of_the_cpu(tmp_path: Path) -> None:
    zone(tmp_path, "intel-rapl:0", "package-0", 900, 1000)
    with CostMeter(tmp_path / "cost.json", energy=PackageEnergy(tmp_path)) as meter:
        zone(tmp_path, "intel-rapl:0", "package-0", 100, 1000)
        assert meter.total().cpu_joules == pytest.approx(200e-6)
        with meter.during(None):
            zone(tmp_path, "intel-rapl:0", "package-0", 500, 1000)
        zone(tmp_path, "intel-rapl:0", "package-0", 600, 1000)
    assert meter.total().cpu_joules == pytest.approx(300e-6)


def test_a_saved_cost_is_read_back_and_continued(tmp_path: Path) -> None:
    with CostMeter(tmp_path / "cost.json") as meter:
        work()
        saved = meter.save()
    written = json.loads((tmp_path / "cost.json").read_bytes())
    assert RunCost.from_json(written) == saved
    assert written["energy_joules"].keys() == {"cpu", "gpu"}
    with CostMeter(tmp_path / "cost.json", before=saved) as meter:
        work()
        total = meter.save()
    assert total.cpu_seconds >= saved.cpu_seconds
    assert total.wall_seconds >= saved.wall_seconds + BUSY
    assert total.preparing_seconds == pytest.approx(total.wall_seconds)


def test_a_peak_since_the_start_of_the_process_is_marked(tmp_path: Path) -> None:
    with CostMeter(tmp_path / "cost.json", memory=PeakMemory(tmp_path)) as meter:
        pass
    assert meter.total().peak_memory_of == "process"
    with CostMeter(tmp_path / "cost.json", before=meter.total()) as again:
        pass
    assert again.total().peak_memory_of == "process", "also in the total of several sessions"


def test_sessions_add_up_and_the_peak_is_the_highest() -> None:
    total = WHOLE + replace(WHOLE, peak_memory_bytes=300, peak_gpu_memory_bytes=10)
    assert total.wall_seconds == 8.0
    assert total.cpu_seconds == 16.0
    assert total.gpu_seconds == 4.0
    assert (total.peak_memory_bytes, total.peak_gpu_memory_bytes) == (300, 50)
    assert (total.cpu_joules, total.gpu_joules) == (60.0, 40.0)
    assert (total.preparing_seconds, total.training_seconds) == (2.0, 4.0)


def test_the_sum_with_an_unknown_energy_is_unknown() -> None:
    unknown = replace(WHOLE, cpu_joules=None, gpu_joules=None)
    for total in (WHOLE + unknown, unknown + WHOLE):
        assert total.cpu_joules is total.gpu_joules is None


def test_a_session_without_a_gpu_leaves_the_energy_of_the_gpu_known() -> None:
    on_cpu = replace(WHOLE, gpu_seconds=0.0, gpu_joules=None, peak_gpu_memory_bytes=None)
    for total in (WHOLE + on_cpu, on_cpu + WHOLE):
        assert (total.gpu_seconds, total.gpu_joules, total.peak_gpu_memory_bytes) == (2.0, 20.0, 50)
    assert (on_cpu + on_cpu).gpu_joules is None


@pytest.mark.parametrize(
    "change", [{"cpu_seconds": None}, {"wall_seconds": "1"}, {"other": 1.0}, {"energy_joules": {}}]
)
def test_a_damaged_file_is_not_read(change: dict[str, Any]) -> None:
    with pytest.raises((TypeError, LookupError)):
        RunCost.from_json({**WHOLE.to_json(), **change})
