"""Tests checkpoints: training continues from a restored state bit for bit, or it is refused."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch
from torch import nn

from gonie.errors import ResumeError
from gonie.nn import BatchNorm
from gonie.tasks.sections import TrainConfig
from gonie.training.average import WeightAverage
from gonie.training.optim import build_optimizer
from gonie.training.state import Progress, State


def fresh(seed: int, *, decay: float = 0.9, fingerprint: str = "f", recipe: str = "") -> State:
    torch.manual_seed(seed)
    model = nn.Sequential(nn.Linear(3, 4), BatchNorm(width=4), nn.Linear(4, 2))
    model[0].bias.requires_grad_(False).fill_(0.5)  # frozen weights come from the recipe and its files
    return State(
        model=model,
        optimizer=build_optimizer(TrainConfig(optimizer="nadam"), model.named_parameters()),
        average=WeightAverage(model, decay),
        progress=Progress(),
        loss=torch.zeros((), dtype=torch.float64),
        fingerprint=fingerprint,
        recipe=recipe,
    )


def go_on(state: State, first: int, last: int) -> None:
    for step in range(first, last):
        state.optimizer.zero_grad()
        seen = torch.tensor([[step, 1.0, 2.0], [1.0, step, 0.0], [0.0, 3.0, step]])
        value = state.model(seen).pow(2).sum()
        value.backward()
        state.optimizer.step()
        state.average.update(step)
        state.loss += value.detach()
        state.progress.step = step + 1


@pytest.mark.parametrize("decay", [0.0, 0.9])
def test_a_restored_state_equals_an_uninterrupted_one(tmp_path: Path, decay: float) -> None:
    unbroken = fresh(1, decay=decay)
    go_on(unbroken, 0, 6)
    first = fresh(1, decay=decay)
    go_on(first, 0, 3)
    first.progress.best, first.progress.best_epoch, first.progress.seconds = 0.75, 2, 1.5
    first.save(tmp_path / "last")
    second = fresh(2, decay=decay)  # with other random weights, which are replaced
    second.restore(tmp_path / "last")
    assert second.progress == first.progress
    go_on(second, 3, 6)
    ended = second.model.state_dict()
    assert unbroken.model.state_dict().keys() == ended.keys() >= {"1.mean", "1.variance"}
    for name, tensor in unbroken.model.state_dict().items():
        assert torch.equal(tensor, ended[name]), name
    for name, tensor in unbroken.average.weights.items():
        assert torch.equal(second.average.weights[name], tensor)
    assert torch.equal(unbroken.loss, second.loss)


def test_saving_does_not_change_the_state(tmp_path: Path) -> None:
    """Training continues after a checkpoint in the middle of an epoch."""
    state = fresh(1)
    go_on(state, 0, 2)
    before = {name: tensor.clone() for name, tensor in state.model.state_dict().items()}
    state.save(tmp_path / "last")
    assert all(torch.equal(before[name], tensor) for name, tensor in state.model.state_dict().items())
    go_on(state, 2, 3)


@pytest.mark.parametrize(
    ("before", "now", "changed"),
    [
        ("a", "a", "a file that the recipe names"),
        ("a", "b", "the recipe"),
        ("", "a", "the recipe or its data files"),
    ],
)
def test_a_state_with_another_fingerprint_is_refused(
    tmp_path: Path, before: str, now: str, changed: str
) -> None:
    """Continuing with other data would give a model that cannot be reproduced."""
    fresh(1, fingerprint="one", recipe=before).save(tmp_path / "last")
    with pytest.raises(ResumeError, match=f": {changed}.* changed since this run began"):
        fresh(1, fingerprint="other", recipe=now).restore(tmp_path / "last")


def test_a_damaged_state_is_refused_with_advice(tmp_path: Path) -> None:
    path = tmp_path / "last"
    fresh(1).save(path)
    path.write_bytes(path.read_bytes()[:-5])
    with pytest.raises(ResumeError, match=f"Delete {path}"):
        fresh(1).restore(path)
