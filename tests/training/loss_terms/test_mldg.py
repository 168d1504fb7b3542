"""Tests meta-learning for domain generalisation: its gradient, its refusals, and a task that it must win."""

from __future__ import annotations

import copy
import random
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor
from torch.func import functional_call

from gonie.errors import RecipeError
from gonie.nn.inference import to_tensors
from gonie.training.fit import begin_training
from gonie.training.loss_terms.mldg import Mldg, MldgConfig, _Trained

from .conftest import RECIPES, Bench, Texts, accuracy, encoded_texts, text_job, trained

CPU = torch.device("cpu")


def differentiated(job: Any, monkeypatch: pytest.MonkeyPatch) -> tuple[Any, Tensor, list[dict[str, Any]]]:
    """Return the model with the gradient of the term, its value, and the domains and batches that it drew."""
    session = begin_training(job)
    term, model = session.terms["mldg"], session.model.eval()
    assert isinstance(term, Mldg)
    drawn: list[dict[str, Any]] = []

    def recorded(domains: list[int], size: int) -> dict[str, Any]:
        drawn.append({"domains": domains, "batch": Mldg._drawn(term, domains, size)})
        return drawn[-1]["batch"]  # type: ignore[no-any-return]

    monkeypatch.setattr(term, "_drawn", recorded)
    batch = to_tensors(job.train.batch(np.arange(5)), CPU)
    model.zero_grad()
    value = term(model, batch, model.states(batch))
    value.backward()
    return model, value, drawn


@pytest.mark.parametrize("task", RECIPES)
def test_the_gradient_is_that_of_a_copy_after_a_step_on_the_other_domains(
    bench: Bench, task: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    job = bench.job(
        task, "loss.mldg.weight=0.5", "loss.mldg.rate=0.3", "loss.mldg.first_order=true", term="mldg"
    )
    model, value, (other, held) = differentiated(job, monkeypatch)
    assert sorted(other["domains"] + held["domains"]) == [0, 1, 2]
    assert len(held["domains"]) == 1

    moved = copy.deepcopy(model)
    moved.zero_grad()
    moved.loss(other["batch"]).backward()
    gradients = [weight.grad for weight in moved.parameters() if weight.grad is not None]
    norm = torch.cat([each.flatten() for each in gradients]).norm()
    with torch.no_grad():
        for weight in moved.parameters():
            if weight.grad is not None:
                weight.sub_(0.3 * weight.grad / norm)
    moved.zero_grad()
    wanted = 0.5 * moved.loss(held["batch"])
    wanted.backward()
    torch.testing.assert_close(value, wanted)
    for own, copied in zip(model.parameters(), moved.parameters(), strict=True):
        if copied.grad is not None:
            torch.testing.assert_close(own.grad, copied.grad, atol=1e-6, rtol=1e-4)


def test_the_second_order_gradient_is_that_of_the_whole_formula(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where autograd can differentiate twice: without the compiled kernels."""
    changes = ["model.encoder.kind=none", "loss.mldg.weight=0.5", "loss.mldg.rate=0.3"]
    train = texts(40, 0.9, seed=1)
    job = text_job(tmp_path, *changes, train=train, domains=[at % 2 for at in range(len(train))])
    model, value, (other, held) = differentiated(job, monkeypatch)
    weights = dict(model.named_parameters())
    step = torch.autograd.grad(model.loss(other["batch"]), list(weights.values()), create_graph=True)
    norm = torch.cat([each.flatten() for each in step]).norm().detach()
    moved = {
        f"model.{name}": weight - 0.3 * each / norm
        for (name, weight), each in zip(weights.items(), step, strict=True)
    }
    wanted = 0.5 * functional_call(_Trained(model), moved, (held["batch"],))
    torch.testing.assert_close(value, wanted)
    exact = torch.autograd.grad(wanted, list(weights.values()))
    for weight, gradient in zip(weights.values(), exact, strict=True):
        torch.testing.assert_close(weight.grad, gradient, atol=1e-4, rtol=1e-2)


def test_the_step_on_the_other_domains_is_as_long_for_a_loss_of_any_scale(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The loss of a tagger is a sum over tokens, so a step in proportion to it would overshoot."""
    job = bench.job("tag", "loss.mldg.rate=0.2", term="mldg")
    values, gradients = [], []
    for scale in (1.0, 50.0):
        loss = _Trained.forward
        with monkeypatch.context() as patch:
            patch.setattr(_Trained, "forward", lambda own, batch, s=scale, f=loss: s * f(own, batch))
            torch.manual_seed(1)
            model, value, _ = differentiated(job, patch)
        values.append(value / scale)
        gradients.append([w.grad / scale for w in model.parameters() if w.grad is not None])
    torch.testing.assert_close(*values)
    torch.testing.assert_close(*gradients, atol=1e-3, rtol=1e-2)


def test_by_default_the_loss_falls_in_the_step_on_the_other_domains(bench: Bench) -> None:
    job = bench.job("tag", term="mldg")
    model = begin_training(job).model.eval()
    batch = to_tensors(job.train.batch(np.arange(8)), CPU)
    trained_model = _Trained(model)
    start = trained_model.loss(batch, trained_model.unmoved())
    gradient = trained_model.gradient(start)
    norm = torch.cat([each.flatten() for each in gradient]).norm()
    step = [-MldgConfig().rate / norm * each for each in gradient]
    assert trained_model.loss(batch, step) < start


def test_a_shift_must_have_a_tensor_for_each_weight(bench: Bench) -> None:
    job = bench.job("tag", term="mldg")
    whole = _Trained(begin_training(job).model)
    batch = to_tensors(job.train.batch(np.arange(2)), CPU)
    with pytest.raises(ValueError, match="shorter"):
        whole.loss(batch, whole.unmoved()[:-1])


def test_with_dropout_the_passes_of_a_step_share_their_masks(bench: Bench) -> None:
    """Otherwise the difference of two losses would be that of their masks, divided by a small number."""
    job = bench.job("tag", "loss.mldg.rate=0.05", "model.dropout.input=0.5", term="mldg")
    session = begin_training(job)
    term, model = session.terms["mldg"], session.model.train()
    batch = to_tensors(job.train.batch(np.arange(5)), CPU)
    torch.manual_seed(1)
    term(model, batch, model.states(batch)).backward()
    largest = max(float(weight.grad.norm()) for weight in model.parameters() if weight.grad is not None)
    assert largest < 100


def test_batches_hold_only_examples_of_the_chosen_domains(bench: Bench) -> None:
    job = bench.job("tag", term="mldg")
    term = begin_training(job).terms["mldg"]
    assert isinstance(term, Mldg)
    for domain, rows in enumerate(term._rows):
        assert set(job.domains[rows]) == {domain}
    assert sum(map(len, term._rows)) == len(job.train)


@pytest.mark.parametrize("domains", [None, [0] * 80, [0, -1] * 40])
def test_fewer_than_two_domains_are_refused(bench: Bench, domains: list[int] | None) -> None:
    job = bench.job("tag", term="mldg")
    job.domains = None if domains is None else np.array(domains)
    with pytest.raises(RecipeError, match=r"two or more domains; .*--set data\.train\.NAME=FILE"):
        begin_training(job)


def test_one_domain_must_remain(bench: Bench) -> None:
    with pytest.raises(RecipeError, match=r"loss\.mldg\.held_out: must be below the number of domains, 3: 3"):
        begin_training(bench.job("tag", "loss.mldg.held_out=3", term="mldg"))


# --- a task that it must win -----------------------------------------------------------------------------

MOODS = {"good": ("fine", "lovely", "clever", "warm"), "bad": ("dull", "silly", "endless", "cold")}
COLOURS = {"good": ("red", "pink"), "bad": ("blue", "green")}
OTHER = {"good": "bad", "bad": "good"}


def texts(number: int, agreement: float, seed: int) -> Texts:
    """Return texts with a mood that fits 80% of labels, and a colour that fits them in some domains only."""
    chance = random.Random(seed)
    found = []
    for at in range(number):
        label = ("good", "bad")[at % 2]
        mood = label if chance.random() < 0.8 else OTHER[label]
        colour = label if chance.random() < agreement else OTHER[label]
        words = [chance.choice(MOODS[mood]), chance.choice(COLOURS[colour]), *chance.choices("klmnop", k=3)]
        found.append((label, " ".join(chance.sample(words, len(words)))))
    return found


@pytest.mark.long
@pytest.mark.parametrize("seed", [1, 2, 3])
def test_a_spurious_feature_is_used_less_in_a_new_domain(tmp_path: Path, seed: int) -> None:
    """The control draws the same batches with the same weight, but its inner step is next to nothing.

    So the gain is due to the gradients of the domains, and not to the weights of examples.
    """
    parts = [texts(200, agreement, seed=at) for at, agreement in enumerate((0.95, 0.95, 0.3), 1)]
    scores = []
    for rate in (1e-6, 2):
        job = text_job(
            tmp_path,
            "train.epochs=16",
            f"train.seed={seed}",
            "loss.mldg.weight=3",
            f"loss.mldg.rate={rate}",
            train=[text for part in parts for text in part],
            domains=[number for number, part in enumerate(parts) for _ in part],
        )
        model = trained(job)
        batch = encoded_texts(job, model, tmp_path, texts(1000, 0.0, seed=9))
        scores.append(accuracy(model, batch))
    control, meta = scores
    assert control < 0.6, "it follows the colour, which always misleads in the new domain"
    assert meta > control + 0.06
