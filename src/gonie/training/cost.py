"""Measures what a training run costs, in ``cost.json`` of its folder."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from typing import TypeVar

import torch

from gonie.errors import GonieError
from gonie.system.cost import CostMeter, RunCost
from gonie.system.nvml import GpuEnergy
from gonie.tasks.torch.job import Note
from gonie.training.fit import TrainingSession
from gonie.training.folder import RunFolder

Result = TypeVar("Result")


class TorchGpu:
    """A CUDA device of PyTorch: the peak memory of its tensors, and the energy of the whole GPU."""

    def __init__(self, device: torch.device) -> None:
        self._device = device
        uuid = getattr(torch.cuda.get_device_properties(device), "uuid", "")
        self._energy = GpuEnergy(f"GPU-{uuid}")

    def reset_peak(self) -> None:
        """Start measuring the peak memory anew."""
        torch.cuda.reset_peak_memory_stats(self._device)

    def peak(self) -> int:
        """Return the peak memory of tensors in bytes."""
        return torch.cuda.max_memory_allocated(self._device)

    def joules(self) -> float | None:
        """Return the energy since the driver was loaded, or None if it is unknown."""
        return self._energy.joules()


@contextmanager
def metered_run(run: RunFolder, device: torch.device, note: Note) -> Iterator[CostMeter]:
    """Measure a new or resumed run during the block.

    The block saves the cost. It is also saved if the block fails, unless the run has no folder yet.
    """
    gpu = TorchGpu(device) if device.type == "cuda" else None
    meter = CostMeter(run.cost, before=_earlier(run, note), gpu=gpu)
    try:
        with meter:
            yield meter
    except BaseException:
        if run.recipe.is_file():
            with suppress(GonieError):  # such as a full disk, which may be the error itself
                meter.save()
        raise


def metered_scoring(session: TrainingSession, meter: CostMeter) -> TrainingSession:
    """Return the session, which measures the scoring after each epoch as a phase of its own."""
    setup = session.setup

    def measured(score: Callable[[], Result]) -> Callable[[], Result]:
        def call() -> Result:
            with meter.during("scoring"):
                return score()

        return call

    sample = setup.evaluate_train and measured(setup.evaluate_train)
    return replace(session, setup=replace(setup, evaluate=measured(setup.evaluate), evaluate_train=sample))


def _earlier(run: RunFolder, note: Note) -> RunCost | None:
    """Return what earlier sessions of the run cost. If that is lost, say so."""
    try:
        return RunCost.from_json(json.loads(run.cost.read_bytes()))
    except FileNotFoundError:
        if run.last.exists():
            note(f"{run.cost} is missing. The cost of the run is counted from here on")
    except (OSError, ValueError, TypeError, LookupError, AttributeError) as error:
        note(f"{run.cost} is damaged ({error}). The cost of the run is counted from here on")
    return None
