"""Tests what a training step does to the model: it follows the gradient of the documented cost."""

from __future__ import annotations

import copy
from pathlib import Path

import numpy as np
import pytest
import torch

from gonie.features.corpus import collate
from gonie.nn.inference import to_tensors
from gonie.tasks.recipe import load_recipe
from gonie.tasks.tagging.torch.build import build_tagger
from gonie.tasks.tagging.torch.data import TagData, read_tag_data
from gonie.tasks.tagging.torch.job import TagJob
from gonie.tasks.tagging.torch.network import TaggingNetwork
from gonie.tasks.torch.training_setup import StepBatch, Update
from gonie.training.loss_terms.table import build_terms
from gonie.training.loss_terms.term import TermContext
from gonie.training.optim import build_optimizer
from gonie.training.updates import build_update

PLAIN = (
    "model.encoder.kind=window",
    "model.encoder.window=3",
    "model.head.kind=softmax",
    "model.dropout.input=0",
    "model.dropout.output=0",
    "model.words.singleton_rate=0",
    "train.clip=0",
    "train.momentum=0",
)


def made(toy: Path, *changes: str) -> tuple[TagData, TaggingNetwork, list[str]]:
    settings = [*PLAIN, *changes]
    recipe = load_recipe(toy / "toy.toml", settings)
    prepared = read_tag_data(recipe, lambda text: None)
    torch.manual_seed(1)
    return prepared, build_tagger(recipe.model, prepared.encoding), settings


def stepped(
    toy: Path, prepared: TagData, model: TaggingNetwork, settings: list[str], rate: float
) -> TaggingNetwork:
    """Return the model after one step over all sentences."""
    moved = copy.deepcopy(model)
    update_of(toy, prepared, moved, settings)(everything(prepared), rate=rate, epochs_done=0.0)
    return moved


def update_of(toy: Path, prepared: TagData, model: TaggingNetwork, settings: list[str]) -> Update:
    """Return the update rule of the recipe."""
    recipe = load_recipe(toy / "toy.toml", settings)
    setup = TagJob(recipe, prepared).setup(model, lambda text: None)
    optimizer = build_optimizer(recipe.train, model.named_parameters())
    terms = build_terms(TermContext(recipe=recipe, model=model, examples=setup.examples))
    return build_update(setup, recipe.train, model, optimizer, list(terms.values()))


def everything(prepared: TagData) -> StepBatch:
    """Return all sentences as one batch."""
    corpus = prepared.train
    content = to_tensors(collate(corpus, np.arange(len(corpus))), torch.device("cpu"))
    return StepBatch(content, corpus.tokens, len(corpus))


def cost(model: TaggingNetwork, prepared: TagData, lam: float) -> torch.Tensor:
    """Compute J = (Σ cross-entropy + λ/2 ‖W‖²) / m over all tokens, with an explicit ‖W‖²."""
    corpus, batch = prepared.train, everything(prepared).content
    squares = sum(
        weight.square().sum()
        for name, weight in model.named_parameters()
        if name in ("encoder.layers.0.weight", "heads.tags.scores.weight")
    )
    return (model.loss(batch) * len(corpus) + lam / 2 * squares) / corpus.tokens


def test_l2_is_a_penalty_on_the_whole_cost(toy: Path) -> None:
    """A step of plain SGD over all data follows ∂J, up to the ratio of tokens to sentences."""
    prepared, model, settings = made(toy, "train.optimizer=sgd", "train.l2=5")
    rate = 1e-3
    moved = stepped(toy, prepared, model, settings, rate)
    scale = rate * prepared.train.tokens / len(prepared.train)
    names = [name for name, _ in model.named_parameters()]
    gradients = torch.autograd.grad(cost(model, prepared, 5.0), list(model.parameters()))
    after = dict(moved.named_parameters())
    for name, before, gradient in zip(names, model.parameters(), gradients, strict=True):
        torch.testing.assert_close(after[name], before - scale * gradient, atol=1e-6, rtol=1e-4)


@pytest.mark.parametrize("head", ["softmax", "crf"])
def test_l2_does_not_affect_biases_embeddings_and_transitions(toy: Path, head: str) -> None:
    prepared, model, settings = made(toy, "train.optimizer=sgd", f"model.head.kind={head}")
    free = stepped(toy, prepared, model, settings, 0.1)
    held = stepped(toy, prepared, model, [*settings, "train.l2=50"], 0.1)
    changed = {
        name
        for (name, one), other in zip(free.named_parameters(), held.parameters(), strict=True)
        if not torch.equal(one, other)
    }
    assert changed == {"encoder.layers.0.weight", "heads.tags.scores.weight"}


def test_the_per_window_optimizer_minimises_the_same_cost(toy: Path) -> None:
    """With a tiny learning rate, a pass of single steps equals one step along the full gradient."""
    prepared, model, settings = made(toy, "train.optimizer=per-window", "train.l2=5")
    model, rate = model.double(), 1e-7
    moved = stepped(toy, prepared, model, settings, rate)
    gradients = torch.autograd.grad(cost(model, prepared, 5.0), list(model.parameters()))
    after = dict(moved.named_parameters())
    for (name, before), gradient in zip(model.named_parameters(), gradients, strict=True):
        walked = (before - after[name]) / (rate * prepared.train.tokens)
        torch.testing.assert_close(walked, gradient, atol=1e-5, rtol=1e-3, msg=name)


def test_per_window_and_sgd_report_the_same_loss_per_sentence(toy: Path) -> None:
    losses = []
    for optimizer in ("sgd", "per-window"):
        prepared, model, settings = made(toy, f"train.optimizer={optimizer}", "train.l2=5")
        update = update_of(toy, prepared, model, settings)
        losses.append(float(update(everything(prepared), rate=1e-12, epochs_done=0.0)))
    assert losses[0] == pytest.approx(losses[1], rel=1e-5)
