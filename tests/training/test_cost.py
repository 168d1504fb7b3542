"""Tests the cost of real runs: resumed runs add up, and nothing is lost silently."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch

from gonie.system.cost import RunCost
from gonie.tasks.recipe import load_recipe
from gonie.training.loop import Step
from gonie.training.run import resume_run, start_run

SHORT = ["train.epochs=2"]


def cost(folder: Path) -> RunCost:
    return RunCost.from_json(json.loads((folder / "cost.json").read_bytes()))


class Stops:
    """A display that interrupts the process at a step, like Ctrl-C."""

    def __init__(self, silence: Any, steps: int) -> None:
        self._silence, self._left = silence, steps

    def __getattr__(self, name: str) -> Any:
        return getattr(self._silence, name)

    def step(self, step: Step) -> None:
        self._left -= 1
        if self._left == 0:
            os.kill(os.getpid(), signal.SIGINT)


class Timed(Stops):
    """A display that notes the times of the first and the last step of each run and variant."""

    def __init__(self, silence: Any) -> None:
        super().__init__(silence, 0)
        self._times: list[list[float]] = []

    def begin(self, summary: Any) -> None:
        self._times.append([])

    def step(self, step: Step) -> None:
        self._times[-1].append(time.monotonic())

    def seconds(self) -> list[float]:
        """Return the time between the first and the last step, during which a run trains or scores."""
        return [times[-1] - times[0] for times in self._times]


def test_a_run_reports_its_cost(toy: Path, tmp_path: Path, silence: Any) -> None:
    began, used = time.monotonic(), time.process_time()
    result = start_run(load_recipe(toy / "toy.toml", SHORT), tmp_path / "run", silence)
    assert result is not None
    assert result.cost == cost(tmp_path / "run")
    assert 0 < result.cost.wall_seconds <= time.monotonic() - began
    assert 0 < result.cost.cpu_seconds <= time.process_time() - used + 0.05
    assert result.cost.training_seconds > 0
    assert result.cost.scoring_seconds > 0
    assert result.cost.finishing_seconds > 0
    assert result.cost.gpu_seconds == 0.0
    assert result.cost.peak_memory_bytes is not None
    assert result.cost.peak_memory_bytes > 2**26, "PyTorch alone is larger"
    assert result.variants_cost is None
    page = (tmp_path / "run" / "report.html").read_text("utf-8")
    assert "<caption>cost</caption>" in page
    assert "peak memory" in page


def test_setting_up_torch_is_no_training(
    toy: Path, tmp_path: Path, silence: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The first call in a process imports the compiler of PyTorch, whatever the run."""
    called: list[bool] = []

    def slow(deterministic: bool) -> None:
        time.sleep(0 if called else 1.0)
        called.append(deterministic)

    monkeypatch.setattr(torch, "use_deterministic_algorithms", slow)
    result = start_run(load_recipe(toy / "toy.toml", SHORT), tmp_path / "run", silence)
    assert result is not None
    assert called
    assert result.cost.preparing_seconds >= 1.0
    history = [
        json.loads(line) for line in (tmp_path / "run" / "metrics.jsonl").read_text("utf-8").splitlines()
    ]
    assert result.cost.training_seconds >= sum(record["seconds"] for record in history)


def test_a_stopped_and_resumed_run_adds_up(toy: Path, tmp_path: Path, silence: Any) -> None:
    folder = tmp_path / "run"
    assert start_run(load_recipe(toy / "toy.toml", SHORT), folder, Stops(silence, 5)) is None
    first = cost(folder)
    assert first.training_seconds > 0
    assert first.finishing_seconds == 0.0
    timed = Timed(silence)
    began = time.monotonic()
    result = resume_run(folder, timed)
    spent = time.monotonic() - began
    assert result is not None
    second = result.cost.wall_seconds - first.wall_seconds
    (trained,) = timed.seconds()
    assert 0 < trained < second <= spent
    assert result.cost.cpu_seconds > first.cpu_seconds
    assert result.cost.training_seconds > first.training_seconds
    assert not [note for note in silence.notes if "cost" in note]


@pytest.mark.long
def test_a_killed_run_loses_at_most_the_time_since_its_checkpoint(
    toy: Path, tmp_path: Path, silence: Any
) -> None:
    folder, settings = (
        tmp_path / "run",
        ("--set", "train.epochs=200", "--set", "train.checkpoint_seconds=0.001"),
    )
    command = ["train", str(toy / "toy.toml"), "--out", str(folder), *settings]
    child = subprocess.Popen([sys.executable, "-m", "gonie", *command], stdout=subprocess.DEVNULL)
    while not (folder / "cost.json").exists() or cost(folder).training_seconds < 0.5:
        assert child.poll() is None, "the cost is saved only at the end"
        time.sleep(0.01)
    child.kill()
    child.wait()
    first = cost(folder)
    assert first.finishing_seconds == 0.0
    assert resume_run(folder, Stops(silence, 3)) is None
    second = cost(folder)
    assert second.training_seconds > first.training_seconds
    assert second.preparing_seconds > first.preparing_seconds
    assert second.peak_memory_bytes is not None
    assert first.peak_memory_bytes is not None
    assert second.peak_memory_bytes >= first.peak_memory_bytes


def test_an_unknown_energy_stays_unknown_when_the_run_is_resumed(
    toy: Path, tmp_path: Path, silence: Any
) -> None:
    folder = tmp_path / "run"
    assert start_run(load_recipe(toy / "toy.toml", SHORT), folder, Stops(silence, 5)) is None
    unknown = replace(cost(folder), cpu_joules=None)
    (folder / "cost.json").write_text(json.dumps(unknown.to_json()))
    result = resume_run(folder, silence)
    assert result is not None
    assert result.cost.cpu_joules is None


@pytest.mark.parametrize(
    ("content", "told"), [(None, "is missing"), ("{}", "is damaged"), ("[]", "is damaged")]
)
def test_a_lost_cost_is_noted_and_the_run_still_resumes(
    content: str | None, told: str, toy: Path, tmp_path: Path, silence: Any
) -> None:
    folder = tmp_path / "run"
    assert start_run(load_recipe(toy / "toy.toml", SHORT), folder, Stops(silence, 5)) is None
    (folder / "cost.json").unlink()
    if content is not None:
        (folder / "cost.json").write_text(content)
    assert resume_run(folder, silence) is not None
    assert [told in note for note in silence.notes if "The cost of the run" in note] == [True]


class Dies(Stops):
    """A display that raises ``MemoryError`` at a step."""

    def step(self, step: Step) -> None:
        self._left -= 1
        if self._left == 0:
            raise MemoryError


def test_a_run_that_fails_keeps_its_cost(toy: Path, tmp_path: Path, silence: Any) -> None:
    with pytest.raises(MemoryError):
        start_run(load_recipe(toy / "toy.toml", SHORT), tmp_path / "run", Dies(silence, 5))
    first = cost(tmp_path / "run")
    assert first.training_seconds > 0
    result = resume_run(tmp_path / "run", silence)
    assert result is not None
    assert result.cost.training_seconds > first.training_seconds


def test_variants_have_their_own_cost(toy: Path, tmp_path: Path, silence: Any) -> None:
    recipe = load_recipe(toy / "toy.toml", SHORT)
    recipe = recipe.model_copy(update={"variants": {"longer": {"train.epochs": 12}}})
    timed = Timed(silence)
    began = time.monotonic()
    result = start_run(recipe, tmp_path / "run", timed)
    spent = time.monotonic() - began
    assert result is not None
    assert result.variants_cost == cost(tmp_path / "run" / "variants" / "longer")
    assert result.cost == cost(tmp_path / "run")
    for own, seconds in zip((result.cost, result.variants_cost), timed.seconds(), strict=True):
        assert own.training_seconds + own.scoring_seconds > seconds > 0
    assert result.cost.wall_seconds + result.variants_cost.wall_seconds <= spent


def test_the_seconds_of_a_run_are_those_of_all_sessions_and_variants(
    toy: Path, tmp_path: Path, silence: Any
) -> None:
    """A user reads them as the time of the whole run, after training and in `run.seconds`."""
    folder = tmp_path / "run"
    recipe = load_recipe(toy / "toy.toml", SHORT)
    recipe = recipe.model_copy(update={"variants": {"again": {"train.seed": 2}}})
    assert start_run(recipe, folder, silence) is not None
    for own in (folder, folder / "variants" / "again"):
        long = replace(cost(own), wall_seconds=1e4)
        (own / "cost.json").write_text(json.dumps(long.to_json()))
    result = resume_run(folder, silence)
    assert result is not None
    assert result.seconds > 2e4
