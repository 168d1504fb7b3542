"""Tests meta-learning for domain generalisation: its gradient, its refusals, and a task that it must win."""

from __future__ import annotations

import copy
import random
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from gonie.errors import RecipeError
from gonie.nn.inference import to_tensors
from gonie.training.fit import begin_training
from gonie.training.loss_terms.mldg import Mldg

from .conftest import RECIPES, Bench, Texts, accuracy, encoded_texts, text_job, trained

CPU = torch.device("cpu")


@pytest.mark.parametrize("task", RECIPES)
def test_the_gradient_is_that_of_a_copy_after_a_step_on_the_other_domains(
    bench: Bench, task: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    job = bench.job(task, "loss.mldg.weight=0.5", "loss.mldg.rate=0.3", term="mldg")
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
    other, held = drawn
    assert sorted(other["domains"] + held["domains"]) == [0, 1, 2]
    assert len(held["domains"]) == 1

    moved = copy.deepcopy(model)
    moved.zero_grad()
    moved.loss(other["batch"]).backward()
    with torch.no_grad():
        for weight in moved.parameters():
            if weight.grad is not None:
                weight.sub_(0.3 * weight.grad)
    moved.zero_grad()
    wanted = 0.5 * moved.loss(held["batch"])
    wanted.backward()
    torch.testing.assert_close(value, wanted)
    for own, copied in zip(model.parameters(), moved.parameters(), strict=True):
        if copied.grad is not None:
            torch.testing.assert_close(own.grad, copied.grad, atol=1e-6, rtol=1e-4)


def test_batches_hold_only_examples_of_the_chosen_domains(bench: Bench) -> None:
    job = bench.job("tag", term="mldg")
    term = begin_training(job).terms["mldg"]
    assert isinstance(term, Mldg)
    for domain, rows in enumerate(term._rows):
        assert set(job.domains[rows]) == {domain}
    assert sum(map(len, term._rows)) == len(job.train)


@pytest.mark.parametrize("domains", [None, [0] * 80])
def test_fewer_than_two_domains_are_refused(bench: Bench, domains: list[int] | None) -> None:
    job = bench.job("tag", term="mldg")
    job.domains = None if domains is None else np.array(domains)
    with pytest.raises(RecipeError, match=r"loss\.mldg: needs training examples of two or more domains"):
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
def test_a_spurious_feature_is_used_less_in_a_new_domain(tmp_path: Path) -> None:
    parts = [texts(300, 0.95, seed=1), texts(300, 0.9, seed=2), texts(60, 0.1, seed=3)]
    domains = [number for number, part in enumerate(parts) for _ in part]
    held = texts(600, 0.1, seed=4)
    scores = []
    for term in ([], ["loss.mldg.weight=3", "loss.mldg.rate=0.5"]):
        job = text_job(
            tmp_path,
            "train.epochs=8",
            *term,
            train=[text for part in parts for text in part],
            domains=domains,
        )
        model = trained(job)
        scores.append(accuracy(model, encoded_texts(job, model, tmp_path, held)))
    plain, meta = scores
    assert meta > plain + 0.2
