"""Tests the L2 distance to the start: its formula, resuming, and that it keeps a model near its start."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch

from gonie.errors import RecipeError
from gonie.tasks.torch.checkpoint import moving_tensors
from gonie.training.fit import begin_training, build_model
from gonie.training.loop import Step, train
from gonie.training.loss_terms.start_l2 import StartL2

from .conftest import RECIPES, Bench, trained


@pytest.mark.parametrize("task", RECIPES)
def test_the_penalty_equals_the_formula(bench: Bench, task: str) -> None:
    job = bench.job(task, "loss.start-l2.weight=0.4", "loss.start-l2.new=0.2", term="start-l2")
    session = begin_training(job)
    start = build_model(job)
    term, model = session.terms["start-l2"], session.model
    torch.manual_seed(1)
    for weight in model.parameters():
        weight.data.add_(torch.randn_like(weight))
    head = {id(weight) for weight in model.layers()["head"].parameters()}
    wanted = 0.0
    for (_, own), (_, old) in zip(model.named_parameters(), start.named_parameters(), strict=True):
        if own.requires_grad:
            new = id(own) in head
            wanted += (0.2 / 2 * own.square() if new else 0.4 / 2 * (own - old).square()).sum().item()
    assert term(model, {}, torch.empty(0)).item() == pytest.approx(wanted, rel=1e-4)


def test_frozen_layers_have_no_penalty_and_adapters_are_new(bench: Bench) -> None:
    changes = ["model.adapter.kind=both", "loss.start-l2.new=1"]
    session = begin_training(bench.job("tag", *changes, term="start-l2"))
    term = session.terms["start-l2"]
    assert isinstance(term, StartL2)
    assert not term._start, "all layers of the start are frozen"
    assert any("before" in name for name in term._new)
    assert any("changes" in name for name in term._new)
    assert any(name.startswith("heads.") for name in term._new)


def test_a_term_that_pulls_nothing_is_refused(bench: Bench) -> None:
    """A loss of 0 at every step would pass in silence."""
    job = bench.job("tag", "model.adapter.kind=both", "loss.start-l2.new=0", term="start-l2")
    with pytest.raises(RecipeError, match=r"loss\.start-l2: has no effect"):
        begin_training(job)


def test_a_resumed_run_has_the_weights_of_the_start_and_not_those_of_the_checkpoint(
    bench: Bench, tmp_path: Path
) -> None:
    job = bench.job("tag", term="start-l2")
    first = begin_training(job)
    steps = train(first.state, first.setup, job.recipe.train, list(first.terms.values()))
    assert isinstance(next(steps), Step)
    first.state.save(tmp_path / "last.safetensors")
    second = begin_training(bench.job("tag", term="start-l2"))
    second.state.restore(tmp_path / "last.safetensors")
    one, other = (session.terms["start-l2"] for session in (first, second))
    assert isinstance(one, StartL2)
    assert isinstance(other, StartL2)
    assert all(torch.equal(weight, other._start[name]) for name, weight in one._start.items())
    values = [term(session.model, {}, torch.empty(0)) for term, session in ((one, first), (other, second))]
    assert values[0] == values[1] > 0
    current = moving_tensors(second.model)
    assert any(not torch.equal(current[name], weight) for name, weight in other._start.items())


@pytest.mark.long
def test_the_model_stays_nearer_to_its_start_the_higher_the_weight(bench: Bench) -> None:
    distances = []
    for weight in (0, 0.01, 0.1, 1):
        job = bench.job(
            "tag", f"loss.start-l2.weight={weight}", "loss.start-l2.new=0", "train.epochs=6", term="start-l2"
        )
        start, model = build_model(job), trained(job)
        pairs = zip(model.named_parameters(), start.parameters(), strict=True)
        moved = [(own - old).square().sum().item() for (name, own), old in pairs if "heads" not in name]
        distances.append(sum(moved))
    assert distances == sorted(distances, reverse=True)
    assert distances[-1] < 0.1 * distances[0]
