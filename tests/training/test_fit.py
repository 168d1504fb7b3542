"""Tests training in a run folder without export: recorded scores, devices and memory errors."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch

from gonie.errors import GonieError
from gonie.tasks.recipe import load_recipe
from gonie.tasks.sections import TrainConfig
from gonie.tasks.torch.checkpoint import load_weights, read_tensors
from gonie.tasks.torch.prepare import prepare
from gonie.training.fit import TrainingSession, begin_training, choose_device, fit, memory_errors
from gonie.training.folder import RunFolder
from gonie.training.loop import Epoch, Step


class Events:
    """Records the events of training."""

    def __init__(self) -> None:
        self.steps: list[Step] = []
        self.epochs: list[Epoch] = []

    def step(self, step: Step) -> None:
        self.steps.append(step)

    def epoch(self, epoch: Epoch) -> None:
        self.epochs.append(epoch)


def trained(toy: Path, folder: Path, *changes: str) -> tuple[TrainingSession, Events]:
    recipe = load_recipe(toy / "toy.toml", ["train.epochs=3", *changes])
    job = prepare(recipe, lambda text: None)
    session, events, run = begin_training(job), Events(), RunFolder(folder)
    run.create()
    assert fit(job, run, session, events)
    return session, events


def test_scoring_training_sentences_does_not_change_the_model(toy: Path, tmp_path: Path) -> None:
    """Otherwise the curve would show the overfitting of another model."""
    _, without = trained(toy, tmp_path / "without")
    session, events = trained(toy, tmp_path / "with", "train.score_train=1000")
    assert [epoch.train_score for epoch in without.epochs] == [None] * 3
    kept = RunFolder(tmp_path / "with").history()
    assert [record["train_score"] for record in kept] == [epoch.train_score for epoch in events.epochs]
    assert [epoch.loss for epoch in without.epochs] == [epoch.loss for epoch in events.epochs]
    one, _ = read_tensors(tmp_path / "with/best.safetensors")
    other, _ = read_tensors(tmp_path / "without/best.safetensors")
    assert all(torch.equal(one[name], other[name]) for name in one)
    load_weights(tmp_path / "with/best.safetensors", session.model)
    assert session.setup.evaluate_train is not None
    best = max(epoch.epoch for epoch in events.epochs if epoch.improved)
    assert session.setup.evaluate_train() == events.epochs[best - 1].train_score


def test_every_step_and_epoch_is_reported(toy: Path, tmp_path: Path) -> None:
    _, events = trained(toy, tmp_path / "run")
    assert [epoch.epoch for epoch in events.epochs] == [1, 2, 3]
    assert len(events.steps) == 3 * events.steps[0].batches


@pytest.mark.skipif(torch.cuda.is_available(), reason="there is a GPU")
def test_a_missing_gpu_is_refused_with_advice() -> None:
    assert choose_device(TrainConfig(device="auto")) == torch.device("cpu")
    with pytest.raises(GonieError, match="--device cpu"):
        choose_device(TrainConfig(device="cuda"))


@pytest.mark.parametrize("size", [10**14, 2**62])
def test_an_impossible_allocation_is_a_memory_error(size: int) -> None:
    """One allocation is too large for any machine, and one overflows."""
    with pytest.raises(MemoryError), memory_errors():
        torch.empty(size, 2)


def test_a_full_gpu_is_a_memory_error() -> None:
    with pytest.raises(MemoryError), memory_errors():
        raise torch.OutOfMemoryError("CUDA out of memory")


def test_other_errors_are_not_memory_errors() -> None:
    """A bug must not be reported as a lack of memory."""
    with pytest.raises(RuntimeError, match="mat1 and mat2"), memory_errors():
        torch.ones(2, 3) @ torch.ones(2, 3)
