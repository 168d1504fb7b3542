"""Tests the values of loss terms in an epoch: their means, the term that broke, and resuming."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor

from gonie.errors import GonieError
from gonie.training.fit import begin_training
from gonie.training.loop import Epoch, train
from gonie.training.loss_terms.epoch_losses import EpochLosses
from gonie.training.run import resume_run, start_run

from .conftest import Bench, Silent

FINITE, NAN = torch.ones(2, 3), torch.full((2, 3), torch.nan)


def test_means_are_over_the_steps_of_an_epoch() -> None:
    losses = EpochLosses(["one", "two"])
    one, parts, two = losses.recorded({"one": lambda *_: FINITE[0, 0], "parts": len, "two": lambda *_: 0.5})
    for _ in range(4):
        assert one(None, {}, FINITE) == 1
        assert two(None, {}, FINITE) == 0.5
    assert parts is len
    assert losses.means(4) == {"one": 1.0, "two": 0.5}
    losses.clear()
    assert losses.means(1) == {"one": 0.0, "two": 0.0}


@pytest.mark.parametrize("value", [torch.nan, torch.inf, -torch.inf])
def test_a_term_breaks_only_if_the_model_is_finite(value: float) -> None:
    """After a term breaks, the model is nan, and so are all other terms. They are not the cause."""
    losses = EpochLosses(["one", "two"])
    losses.add(0, torch.tensor(value), NAN)
    assert losses.broken() is None
    losses.add(1, torch.tensor(value), FINITE)
    losses.add(0, torch.tensor(value), NAN)
    assert losses.broken() == "two"


@pytest.mark.parametrize("step", [3, 10])
def test_the_message_names_a_term_that_is_not_finite(bench: Bench, step: int) -> None:
    """Also at the last step of an epoch (10), when the loss of the model is still finite."""
    job = bench.job("tag", "train.epochs=1", term="start-l2")
    session = begin_training(job)
    calls = iter(range(1, 100))

    def breaking(model: Any, batch: Any, states: Tensor) -> Tensor:
        return states.sum() * (torch.nan if next(calls) == step else 0.0)

    terms = session.state.terms.recorded({**session.terms, "start-l2": breaking})
    with pytest.raises(GonieError, match="the loss term start-l2 is not finite in epoch 1") as raised:
        list(train(session.state, session.setup, job.recipe.train, terms))
    assert "learning rate" not in str(raised.value)


def test_a_model_that_breaks_is_not_blamed_on_a_term(bench: Bench) -> None:
    job = bench.job("tag", "train.epochs=1", term="start-l2")
    session = begin_training(job)
    with torch.no_grad():
        for weight in session.model.parameters():
            weight.fill_(torch.nan)
    terms = session.state.terms.recorded(session.terms)
    with pytest.raises(GonieError, match="the loss became nan in epoch 1"):
        list(train(session.state, session.setup, job.recipe.train, terms))


def test_metrics_have_the_terms_and_are_the_same_after_resuming(bench: Bench, tmp_path: Path) -> None:
    recipe = bench.recipe("tag", "train.epochs=2", "train.checkpoint_seconds=1e-9", term="start-l2")
    assert start_run(recipe, tmp_path / "whole", Silent()) is not None
    with pytest.raises(RuntimeError, match="stopped"):
        start_run(recipe, tmp_path / "broken", Silent(steps=17))
    assert resume_run(tmp_path / "broken", Silent()) is not None
    whole, broken = (
        [json.loads(line)["terms"] for line in (tmp_path / name / "metrics.jsonl").read_text().splitlines()]
        for name in ("whole", "broken")
    )
    assert whole == broken
    assert len(whole) == 2
    assert all(each["start-l2"] > 0 for each in whole)


def test_without_terms_the_metrics_have_none(bench: Bench) -> None:
    job = bench.job("tag", "train.epochs=1")
    session = begin_training(job)
    terms = session.state.terms.recorded(session.terms)
    epochs = [
        event
        for event in train(session.state, session.setup, job.recipe.train, terms)
        if isinstance(event, Epoch)
    ]
    assert "terms" not in epochs[0].record()
