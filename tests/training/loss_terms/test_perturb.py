"""Tests adversarial perturbation: its size and direction, and a task that it must win."""

from __future__ import annotations

import random
from pathlib import Path

import numpy as np
import pytest
import torch

from gonie.errors import RecipeError
from gonie.nn.inference import to_tensors
from gonie.tasks.recipe import load_recipe
from gonie.tasks.start import resolve_recipe
from gonie.tasks.torch.prepare import prepare
from gonie.training.fit import begin_training
from gonie.training.loss_terms.perturb import Perturb

from .conftest import RECIPES, Bench, Texts, accuracy, encoded_texts, text_job, trained

CPU = torch.device("cpu")


def test_a_model_without_token_vectors_is_refused(toy: Path) -> None:
    """The head of the recipe ``crf`` reads features alone, so no perturbation could change its loss."""
    files = [f"data.{split}={toy / f'{split}.conll'}" for split in ("train", "dev")]
    recipe = load_recipe("crf", [*files, "loss.perturb.weight=1"])
    job = prepare(resolve_recipe(recipe, lambda text: None), lambda text: None)
    with pytest.raises(RecipeError, match=r"loss\.perturb: the model has no token vectors to perturb"):
        begin_training(job)


def test_the_perturbation_has_the_given_norm_in_each_sentence(bench: Bench) -> None:
    term = begin_training(bench.job("tag", "loss.perturb.epsilon=0.3", term="perturb")).terms["perturb"]
    assert isinstance(term, Perturb)
    mask = torch.tensor([[True, True, True], [True, False, False]])
    vectors, gradient = torch.randn(2, 2, 3, 4)
    found = term.perturbation(vectors, gradient, mask)
    scale = vectors[mask].square().mean().sqrt()
    torch.testing.assert_close(found.flatten(1).norm(dim=1), torch.full((2,), 0.3) * scale)
    assert (found[~mask] == 0).all()
    own = gradient[0].flatten()
    torch.testing.assert_close(found[0].flatten() / found[0].norm(), own / own.norm())
    assert (term.perturbation(vectors, torch.zeros_like(gradient), mask) == 0).all(), "not NaN"


@pytest.mark.parametrize("task", RECIPES)
def test_the_perturbed_loss_is_higher_than_that_of_a_random_direction(bench: Bench, task: str) -> None:
    job = bench.job(task, "loss.perturb.epsilon=0.1", term="perturb")
    session = begin_training(job)
    term, model = session.terms["perturb"], session.model.eval()
    assert isinstance(term, Perturb)
    batch = to_tensors(job.train.batch(np.arange(8)), CPU)
    states = model.states(batch)
    worst = term(model, batch, states)
    assert worst > model.loss_of(states, batch)
    torch.manual_seed(0)
    vectors = model.embed(batch)
    random_step = term.perturbation(vectors.detach(), torch.randn_like(vectors), batch["mask"])
    assert worst > model.loss_of(model.states_of(vectors + random_step, batch), batch)


def test_the_two_passes_share_their_dropout_masks(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    """With a perturbation of almost 0, both have the same loss, although dropout is on."""
    job = bench.job("tag", "loss.perturb.epsilon=1e-9", "model.dropout.output=0.5", term="perturb")
    session = begin_training(job)
    term, model = session.terms["perturb"], session.model.train()
    batch = to_tensors(job.train.batch(np.arange(4)), CPU)
    losses = []
    plain = model.loss_of

    def recorded(*args: object) -> torch.Tensor:
        losses.append(plain(*args))
        return losses[-1]  # type: ignore[no-any-return]

    monkeypatch.setattr(model, "loss_of", recorded)
    term(model, batch, model.states(batch))
    first, second = losses
    torch.testing.assert_close(first, second)


# --- a task that it must win -----------------------------------------------------------------------------

MOODS = {"good": ("fine", "lovely", "clever", "warm"), "bad": ("dull", "silly", "endless", "cold")}


def texts(number: int, seed: int) -> Texts:
    """Return texts of several words, one of which tells the label."""
    chance = random.Random(seed)
    found = []
    for at in range(number):
        label = ("good", "bad")[at % 2]
        words = [*chance.choices("klmnopqrstu", k=3), chance.choice(MOODS[label])]
        found.append((label, " ".join(chance.sample(words, len(words)))))
    return found


@pytest.mark.long
def test_accuracy_under_noise_on_the_vectors_rises(tmp_path: Path) -> None:
    """The control has the same term with next to no perturbation, so its loss has the same weight."""
    scores = []
    for epsilon in (1e-6, 2):
        changes = ["train.epochs=8", f"loss.perturb.epsilon={epsilon}"]
        job = text_job(tmp_path, *changes, train=texts(200, seed=1))
        model = trained(job)
        batch = encoded_texts(job, model, tmp_path, texts(400, seed=2))
        vectors = model.embed(batch).detach()
        scale = vectors[batch["mask"]].square().mean().sqrt()
        torch.manual_seed(1)
        noisy = [model.states_of(vectors + 2 * scale * torch.randn_like(vectors), batch) for _ in range(5)]
        scores.append(np.mean([accuracy(model, batch, states) for states in noisy]))
        assert accuracy(model, batch) > 0.98
    plain, perturbed = scores
    assert perturbed > plain + 0.03
