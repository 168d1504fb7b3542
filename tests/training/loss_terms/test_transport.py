"""Tests transport of states to those of the start: what it compares, and that it keeps states near them."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from gonie.nn.inference import to_tensors
from gonie.training.fit import begin_training, build_model
from gonie.training.loss_terms.sinkhorn import regularised_cost
from gonie.training.loss_terms.transport import COSTS, Transport

from .conftest import RECIPES, Bench, trained

CPU = torch.device("cpu")


@pytest.mark.parametrize("task", RECIPES)
def test_the_frozen_copy_computes_the_states_of_the_start(bench: Bench, task: str) -> None:
    """For any text of the vocabulary of the start, because shared weights were copied."""
    job = bench.job(task, term="transport")
    term = begin_training(job).terms["transport"]
    assert isinstance(term, Transport)
    batch = to_tensors(job.train.batch(np.arange(5)), CPU)
    wanted = build_model(job).eval().states(batch)
    torch.testing.assert_close(term._start.states(batch), wanted)
    old = job.start
    again = bench.job(
        task
    )  # the same file in the encoding of a run without a start, which is that of the start
    assert list(again.encoding.labels) == list(old.encoding.labels)
    plain = to_tensors(again.train.batch(np.arange(5)), CPU)
    torch.testing.assert_close(term._start.states(batch), old.model.eval().states(plain))


@pytest.mark.parametrize("marginals", ["uniform", "norm"])
@pytest.mark.parametrize("cost", COSTS)
def test_the_value_is_the_cost_between_the_tokens_of_model_and_start(
    bench: Bench, cost: str, marginals: str
) -> None:
    changes = [
        f"loss.transport.cost={cost}",
        f"loss.transport.marginals={marginals}",
        "loss.transport.weight=3",
    ]
    job = bench.job("tag", *changes, "loss.transport.points=1000", term="transport")
    session = begin_training(job)
    term, model = session.terms["transport"], session.model.eval()
    assert isinstance(term, Transport)
    for weight in model.parameters():
        weight.data.add_(0.1 * torch.randn_like(weight))
    batch = to_tensors(job.train.batch(np.arange(4)), CPU)
    mask, states = batch["mask"], model.states(batch)
    x, y = states[mask], term._start.states(batch)[mask]
    costs = COSTS[cost](x, y)
    mass = y.norm(dim=1) / y.norm(dim=1).sum() if marginals == "norm" else torch.full((len(x),), 1 / len(x))
    wanted = 3 * regularised_cost(costs, mass, mass, epsilon=0.05 * costs.mean().detach(), iterations=5)
    torch.testing.assert_close(term(model, batch, states), wanted)


@pytest.mark.long
def test_states_stay_nearer_to_those_of_the_start_the_higher_the_weight(bench: Bench) -> None:
    distances = []
    for weight in (0, 1, 10, 100):
        changes = [
            f"loss.transport.weight={weight}",
            "loss.transport.points=64",
            "loss.transport.iterations=30",
        ]
        job = bench.job("tag", *changes, "train.epochs=6", term="transport")
        start, model = build_model(job).eval(), trained(job)
        batch = to_tensors(job.train.batch(np.arange(40)), CPU)
        with torch.no_grad():
            moved = (model.states(batch) - start.states(batch))[batch["mask"]]
        distances.append(float(moved.square().mean()))
    assert distances == sorted(distances, reverse=True)
    assert distances[-1] < 0.5 * distances[0]
