"""What a run costs: time of processors, peak memory and energy.

``CostMeter`` measures one session of a run, and adds it to what the run cost before. A value that the machine
does not tell is None, never 0. The sum with an unknown value is unknown.
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from threading import Event, Thread
from types import TracebackType
from typing import Any, Literal, NamedTuple, Protocol

from gonie.system.files import atomic_write
from gonie.system.peak_memory import PeakMemory
from gonie.system.rapl import PackageEnergy

Phase = Literal["preparing", "training", "scoring", "finishing"]
"""Reading data; training; scoring dev (and test in a comparison); exporting, evaluating and baselines."""
ON_GPU = ("training", "scoring")
"""The phases with the model on its device."""
POLL_SECONDS = 30.0
"""Seconds between two readings of the energy, so that no counter wraps around unseen."""


@dataclass(frozen=True, kw_only=True)
class RunCost:
    """What a run cost, over all its sessions. None is unknown.

    ``cpu_seconds`` are those of the process and of its finished child processes. ``gpu_seconds`` are those of
    training and scoring with the model on a GPU. The peaks are of the process; ``peak_memory_of`` is
    ``process`` if the peak may be from before the run. Energy is that of all CPU packages during the run, and
    of the whole GPU during ``gpu_seconds``, whoever used them. Peak memory and energy of a GPU are None if
    none was used. ``wall_seconds`` is the sum of the four phases: reading data, training, scoring, and export
    with evaluation. Training includes building the model and writing checkpoints.
    """

    wall_seconds: float = 0.0
    cpu_seconds: float = 0.0
    gpu_seconds: float = 0.0
    peak_memory_bytes: int | None = None
    peak_memory_of: Literal["run", "process"] = "run"
    peak_gpu_memory_bytes: int | None = None
    cpu_joules: float | None = None
    gpu_joules: float | None = None
    preparing_seconds: float = 0.0
    training_seconds: float = 0.0
    scoring_seconds: float = 0.0
    finishing_seconds: float = 0.0

    def __add__(self, other: RunCost) -> RunCost:
        both = (self, other)
        on_gpu = [cost for cost in both if cost.gpu_seconds]  # others say nothing about the GPU
        sums = {name: sum(getattr(cost, name) for cost in both) for name in _SECONDS}
        return RunCost(
            **sums,
            peak_memory_bytes=_highest([cost.peak_memory_bytes for cost in both]),
            peak_memory_of="process" if "process" in (cost.peak_memory_of for cost in both) else "run",
            peak_gpu_memory_bytes=_highest([cost.peak_gpu_memory_bytes for cost in on_gpu]),
            cpu_joules=_sum([cost.cpu_joules for cost in both]),
            gpu_joules=_sum([cost.gpu_joules for cost in on_gpu]),
        )

    def numbers(self) -> dict[str, float | None]:
        """Return the numbers by name."""
        return {name: value for name, value in asdict(self).items() if name != "peak_memory_of"}

    def to_json(self) -> dict[str, Any]:
        """Return the content of ``cost.json``."""
        return nested_energy(asdict(self))

    @classmethod
    def from_json(cls, values: Mapping[str, Any]) -> RunCost:
        """Read the output of ``to_json``."""
        flat = dict(values)
        energy = flat.pop("energy_joules")
        cost = cls(**flat, cpu_joules=energy["cpu"], gpu_joules=energy["gpu"])
        for name, value in cost.numbers().items():
            optional = value is None and name not in _SECONDS
            if not optional and (isinstance(value, bool) or not isinstance(value, int | float)):
                raise TypeError(f"{name}: {value!r}")
        return cost


def nested_energy(values: Mapping[str, Any]) -> dict[str, Any]:
    """Return values by the names of ``RunCost`` as in JSON, with those in joules under ``energy_joules``."""
    rest = {name: value for name, value in values.items() if not name.endswith("_joules")}
    return {**rest, "energy_joules": {"cpu": values["cpu_joules"], "gpu": values["gpu_joules"]}}


_SECONDS = tuple(field.name for field in fields(RunCost) if field.name.endswith("_seconds"))


class GpuUsage(Protocol):
    """The GPU that a model is trained on."""

    def reset_peak(self) -> None:
        """Start measuring the peak memory anew."""

    def peak(self) -> int:
        """Return the peak memory in bytes."""
        ...

    def joules(self) -> float | None:
        """Return a count of the energy, or None if it is unknown."""
        ...


class _MeterReading(NamedTuple):
    wall: float
    cpu: float
    cpu_joules: float | None
    gpu_joules: float | None


class CostMeter:
    """Measures a run during a block, which starts with the phase ``preparing``.

    ``before`` is what earlier sessions cost, and ``gpu`` the GPU that the model is trained on. ``save``
    writes the total to ``file``. The peak memory of the process is reset at the start.
    """

    def __init__(
        self,
        file: Path,
        *,
        before: RunCost | None = None,
        gpu: GpuUsage | None = None,
        memory: PeakMemory | None = None,
        energy: PackageEnergy | None = None,
    ) -> None:
        self._file = file
        self._total = before
        self._gpu = gpu
        self._memory = memory or PeakMemory()
        self._energy = energy or PackageEnergy()
        self._phase: Phase | None = None
        self._last = self._read()
        self._ended = Event()

    def __enter__(self) -> CostMeter:
        self.begin("preparing")
        if self._energy.joules() is not None:
            Thread(target=self._poll, name="gonie-energy", daemon=True).start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.begin(None)
        self._ended.set()

    def begin(self, phase: Phase | None) -> None:
        """End the current phase and begin another. None is a pause, which costs nothing."""
        self._count()
        if self._phase is None and phase is not None:
            self._memory.reset()
            if self._gpu is not None:
                self._gpu.reset_peak()
        self._phase = phase

    @contextmanager
    def during(self, phase: Phase | None) -> Iterator[None]:
        """Measure the block as ``phase``, and then go on with the phase before."""
        before = self._phase
        self.begin(phase)
        try:
            yield
        finally:
            self.begin(before)

    def total(self) -> RunCost:
        """Return what the run cost so far, including earlier sessions."""
        self._count()
        return self._total or RunCost()

    def save(self) -> RunCost:
        """Write the total atomically, and return it."""
        total = self.total()
        atomic_write(self._file, json.dumps(total.to_json(), indent=1) + "\n")
        return total

    def _count(self) -> None:
        """Add what was used since the last call to the current phase."""
        last, self._last = self._last, self._read()
        if self._phase is None:
            return
        now, seconds = self._last, self._last.wall - last.wall
        gpu = self._gpu if self._phase in ON_GPU else None
        spent = RunCost(
            wall_seconds=seconds,
            cpu_seconds=now.cpu - last.cpu,
            gpu_seconds=seconds if gpu else 0.0,
            peak_memory_bytes=self._memory.read(),
            peak_memory_of="run" if self._memory.was_reset else "process",
            peak_gpu_memory_bytes=gpu.peak() if gpu else None,
            cpu_joules=_difference(now.cpu_joules, last.cpu_joules),
            gpu_joules=_difference(now.gpu_joules, last.gpu_joules) if gpu else None,
            **{f"{self._phase}_seconds": seconds},
        )
        self._total = spent if self._total is None else self._total + spent

    def _read(self) -> _MeterReading:
        used = os.times()
        cpu = used.user + used.system + used.children_user + used.children_system
        gpu_joules = self._gpu.joules() if self._gpu else None
        return _MeterReading(time.monotonic(), cpu, self._energy.joules(), gpu_joules)

    def _poll(self) -> None:
        while not self._ended.wait(POLL_SECONDS):
            self._energy.joules()


def _difference(now: float | None, last: float | None) -> float | None:
    return None if now is None or last is None else now - last


def _sum(values: list[float | None]) -> float | None:
    """Return the sum, which is unknown if one of the values is. There must be a value."""
    known = [value for value in values if value is not None]
    return sum(known) if values and len(known) == len(values) else None


def _highest(values: list[int | None]) -> int | None:
    """Return the highest of the known values."""
    return max((value for value in values if value is not None), default=None)
