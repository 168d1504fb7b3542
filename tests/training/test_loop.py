"""Tests the training loop: learning, counting, early stopping, and a loss that is not finite."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest
import torch

from gonie.errors import GonieError
from gonie.tasks.recipe import load_recipe
from gonie.tasks.tagging.recipe import TagRecipe
from gonie.tasks.tagging.torch.build import build_tagger
from gonie.tasks.tagging.torch.data import TagData, read_tag_data
from gonie.tasks.tagging.torch.job import TagJob
from gonie.tasks.tagging.torch.network import TaggingNetwork
from gonie.tasks.torch.training_setup import DevScore, TrainingSetup
from gonie.training.average import WeightAverage
from gonie.training.loop import Epoch, Step, train
from gonie.training.optim import build_optimizer
from gonie.training.state import Progress, State


class Setting(NamedTuple):
    """Everything that the loop needs, for the toy corpus."""

    recipe: TagRecipe
    prepared: TagData
    model: TaggingNetwork
    state: State
    setup: TrainingSetup

    def events(self, evaluate: Any = None) -> list[Step | Epoch]:
        return list(
            train(self.state, self.scored_by(evaluate) if evaluate else self.setup, self.recipe.train)
        )

    def scored_by(self, evaluate: Any) -> TrainingSetup:
        return replace(self.setup, evaluate=lambda: DevScore(evaluate(), "F1", ""))

    def epochs(self, evaluate: Any = None) -> list[Epoch]:
        return [event for event in self.events(evaluate) if isinstance(event, Epoch)]


def setting(toy: Path, *changes: str) -> Setting:
    recipe = load_recipe(toy / "toy.toml", changes)
    prepared = read_tag_data(recipe, lambda text: None)
    torch.manual_seed(recipe.train.seed)
    model = build_tagger(recipe.model, prepared.encoding)
    state = State(
        model=model,
        optimizer=build_optimizer(recipe.train, model.named_parameters()),
        average=WeightAverage(model, recipe.train.average),
        progress=Progress(),
        loss=torch.zeros((), dtype=torch.float64),
        fingerprint="",
    )
    setup = TagJob(recipe, prepared).setup(model, lambda text: None)
    return Setting(recipe, prepared, model, state, setup)


@pytest.mark.parametrize("head", ["crf", "softmax"])
def test_the_toy_corpus_is_learned_perfectly(toy: Path, head: str) -> None:
    """A loop that cannot learn the toy corpus cannot learn anything else."""
    epochs = setting(toy, f"model.head.kind={head}").epochs()
    assert epochs[-1].loss < 0.1 * epochs[0].loss
    assert max(epoch.score for epoch in epochs) == 1.0


@pytest.mark.parametrize(
    "changes",
    [
        ("train.optimizer=sgd", "train.lr=0.1"),
        ("train.optimizer=adamw", "train.weight_decay=0.01"),
        ("train.optimizer=nadam", "train.normalize=true"),
        ("train.schedule=cosine", "train.warmup=5", "train.average=0.9"),
        (
            "train.optimizer=per-window",
            "model.encoder.kind=window",
            "model.head.kind=softmax",
            "model.dropout.input=0",
            "model.dropout.output=0",
        ),
    ],
    ids=lambda changes: changes[0],
)
def test_every_optimizer_and_schedule_lowers_the_loss(toy: Path, changes: tuple[str, ...]) -> None:
    epochs = setting(toy, *changes, "train.epochs=4").epochs()
    assert epochs[-1].loss < 0.7 * epochs[0].loss


@pytest.mark.parametrize(("optimizer", "clips"), [("sgd", True), ("per-window", False)])
def test_clipping_is_suggested_only_to_optimizers_that_support_it(
    toy: Path, optimizer: str, clips: bool
) -> None:
    """The per-window optimizer does not support clipping, so the message must not suggest it."""
    window = ("model.encoder.kind=window", "model.head.kind=softmax")
    still = ("model.dropout.input=0", "model.dropout.output=0", "train.clip=0")
    made = setting(toy, *window, *still, f"train.optimizer={optimizer}", "train.lr=1e38")
    with pytest.raises(GonieError, match=r"the loss became .*train\.lr=2\.5e\+37") as raised:
        made.epochs()
    assert ("train.clip" in str(raised.value)) == clips


def test_an_epoch_sees_every_token_once(toy: Path) -> None:
    made = setting(toy, "train.epochs=2")
    events = made.events()
    steps = [event for event in events if isinstance(event, Step)]
    for number in (1, 2):
        own = [step for step in steps if step.epoch == number]
        assert [step.batch for step in own] == list(range(1, own[0].batches + 1))
        assert sum(step.tokens for step in own) == made.prepared.train.tokens
    epochs = [event for event in events if isinstance(event, Epoch)]
    assert [epoch.tokens for epoch in epochs] == [made.prepared.train.tokens] * 2
    assert made.state.progress.step == len(steps)
    assert made.state.progress.finished


def test_the_loss_shown_is_the_mean_over_sentences(toy: Path) -> None:
    """With a tiny learning rate the model does not change, so its loss can be computed separately."""
    made = setting(toy, "train.epochs=1", "train.lr=1e-12", "model.dropout.input=0", "model.dropout.output=0")
    made.model.embedding.singleton_rate = 0.0  # type: ignore[union-attr]
    (epoch,) = made.epochs()
    from gonie.features.corpus import collate
    from gonie.nn.inference import to_tensors

    corpus = made.prepared.train
    batch = to_tensors(collate(corpus, np.arange(len(corpus))), torch.device("cpu"))
    with torch.no_grad():
        assert epoch.loss == pytest.approx(float(made.model.loss(batch)), rel=1e-4)


def test_steps_report_the_learning_rate_of_the_schedule(toy: Path) -> None:
    made = setting(toy, "train.epochs=2", "train.lr=0.5", "train.schedule=linear")
    rates = [event.rate for event in made.events() if isinstance(event, Step)]
    assert rates == pytest.approx(np.linspace(0.5, 0, len(rates), endpoint=False).tolist())


def test_patience_stops_training_without_improvement(toy: Path) -> None:
    scores = iter([0.5, 0.7, 0.6, 0.7, 0.1, 0.9])
    made = setting(toy, "train.epochs=6", "train.patience=3")
    epochs = made.epochs(lambda: next(scores))
    assert [epoch.score for epoch in epochs] == [0.5, 0.7, 0.6, 0.7, 0.1]
    assert [epoch.improved for epoch in epochs] == [True, True, False, True, False]
    assert (made.state.progress.best, made.state.progress.best_epoch) == (
        0.7,
        3,
    )  # the later of two equal scores


def test_the_first_epoch_is_the_best_even_with_a_score_of_0(toy: Path) -> None:
    """There must always be a best model to export."""
    (epoch,) = setting(toy, "train.epochs=1").epochs(lambda: 0.0)
    assert epoch.improved


def test_the_average_is_used_for_scoring_but_not_for_training(toy: Path) -> None:
    made = setting(toy, "train.epochs=2", "train.average=0.9")
    seen = []

    def evaluate() -> float:
        name, weights = next(iter(made.state.average.weights.items()))
        seen.append(torch.equal(dict(made.model.named_parameters())[name], weights))
        return 0.5

    for event in train(made.state, made.scored_by(evaluate), made.recipe.train):
        if isinstance(event, Epoch):
            name, weights = next(iter(made.state.average.weights.items()))
            assert not torch.equal(dict(made.model.named_parameters())[name], weights)
    assert seen == [True, True]


def test_the_same_seed_gives_the_same_weights_and_another_does_not(toy: Path) -> None:
    def weights(*changes: str) -> list[torch.Tensor]:
        made = setting(toy, "train.epochs=2", *changes)
        made.events()
        return [p.detach() for p in made.model.parameters()]

    one, same, other = weights(), weights(), weights("train.seed=2")
    assert all(torch.equal(a, b) for a, b in zip(one, same, strict=True))
    assert not all(torch.equal(a, b) for a, b in zip(one, other, strict=True))


def test_the_global_random_generator_does_not_affect_training(toy: Path) -> None:
    """A display or a plug-in that uses the global generator must not change the model."""
    made, disturbed = setting(toy, "train.epochs=1"), setting(toy, "train.epochs=1")
    made.events()
    for _ in train(disturbed.state, disturbed.scored_by(lambda: 0.0), disturbed.recipe.train):
        torch.rand(7)
    for one, other in zip(made.model.parameters(), disturbed.model.parameters(), strict=True):
        assert torch.equal(one, other)


def test_a_nan_loss_suggests_a_lower_learning_rate(toy: Path) -> None:
    made = setting(toy)
    with torch.no_grad():
        next(made.model.parameters()).fill_(float("nan"))
    with pytest.raises(GonieError, match=r"(?s)the loss became nan in epoch 1.*train\.lr=0\.005"):
        made.events()


@pytest.mark.parametrize(
    ("patience", "later", "improved", "best"),
    [(3, True, "yynyn", 3), (3, False, "yynnn", 1), (None, True, "yynyny", 5), (1, False, "yyn", 1)],
)
def test_the_setup_defines_the_best_epoch_and_early_stopping(
    toy: Path, patience: int | None, later: bool, improved: str, best: int
) -> None:
    scores = iter([-5.0, -3.0, -4.0, -3.0, -9.0, -1.0])
    made = setting(toy, "train.epochs=6")
    setup = replace(made.scored_by(lambda: next(scores)), patience=patience, prefer_later=later)
    found = [event for event in train(made.state, setup, made.recipe.train) if isinstance(event, Epoch)]
    assert "".join("y" if epoch.improved else "n" for epoch in found) == improved
    assert made.state.progress.best_epoch == best


def test_resting_parts_are_not_trained(toy: Path) -> None:
    made = setting(toy, "train.epochs=2", "train.lr=0.1")
    encoder = made.model.encoder
    before = [parameter.detach().clone() for parameter in encoder.parameters()]
    setup = replace(made.setup, resting=lambda done: [encoder] if done < 1 else [])
    moved = []
    for event in train(made.state, setup, made.recipe.train):
        if isinstance(event, Epoch):
            moved.append(not all(map(torch.equal, before, encoder.parameters())))
    assert moved == [False, True]


def test_the_record_of_an_epoch_includes_its_details() -> None:
    epoch = Epoch(1, 0.5, 0.25, True, 0.01, 100, 1.0, 2.0, None, "F1", "dev F1 25.00", {"more": {"a": 1}})
    assert epoch.record() == {
        **{"epoch": 1, "loss": 0.5, "score": 0.25, "improved": True, "rate": 0.01, "tokens": 100},
        **{"seconds": 1.0, "dev_seconds": 2.0, "train_score": None, "metric": "F1", "more": {"a": 1}},
    }
