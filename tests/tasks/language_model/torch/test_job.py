"""Training language models: carried states, the best epoch, the loss and the dev score."""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path

import pytest
import torch

from gonie.errors import GonieError
from gonie.tasks.language_model.torch.job import LanguageModelJob
from gonie.tasks.language_model.torch.stateful import StatefulReader
from gonie.tasks.recipe import load_recipe
from gonie.tasks.torch.prepare import data_key, prepare, read_dev, synthetic
from gonie.tasks.torch.training_setup import DevScore
from gonie.training.fit import TrainingSession, begin_training
from gonie.training.loop import Epoch, Step, train


@pytest.fixture
def job(prose: Path, tmp_path: Path) -> LanguageModelJob:
    recipe = load_recipe(prose / "pretrain.toml", command="pretrain")
    made = prepare(recipe, lambda _: None, folder=tmp_path)
    assert isinstance(made, LanguageModelJob)
    return made


@pytest.fixture
def session(job: LanguageModelJob) -> TrainingSession:
    return begin_training(job)


def reader(session: TrainingSession) -> StatefulReader:
    assert isinstance(session.model, StatefulReader)
    return session.model


def events(session: TrainingSession, prose: Path, *found: float) -> list[tuple[Step | Epoch, bool]]:
    """Return the events of the loop for these perplexities, and whether states are carried after each."""
    config = load_recipe(prose / "pretrain.toml", [f"train.epochs={len(found)}"], command="pretrain").train
    scores = iter(found)
    setup = replace(session.setup, evaluate=lambda: DevScore(-math.log(next(scores)), "", ""))
    model = reader(session)
    loop = train(session.state, setup, config)
    return [(event, bool(model.states.any() or model.cells.any())) for event in loop]


def test_states_are_carried_within_an_epoch_and_then_reset(session: TrainingSession, prose: Path) -> None:
    """The next epoch cuts the text at other places, so the old states do not belong to its rows."""
    for event, carries in events(session, prose, 9.0, 8.0):
        assert carries == isinstance(event, Step)


def test_the_best_epoch_is_the_first_with_the_lowest_perplexity(
    session: TrainingSession, prose: Path
) -> None:
    """There is no early stopping."""
    perplexities = (9.0, 5.0, 7.0, 5.0, *(6.0 for _ in range(4)))
    found = [event for event, _ in events(session, prose, *perplexities) if isinstance(event, Epoch)]
    assert [event.improved for event in found] == [True, True, *(False for _ in range(6))]
    assert session.state.progress.best_epoch == 1
    assert session.state.progress.finished


def test_a_nan_loss_stops_training_with_advice(session: TrainingSession, prose: Path) -> None:
    with torch.no_grad():
        reader(session).model.softmax.bias[0] = math.nan
    with pytest.raises(GonieError, match=r"loss became nan in epoch 1.*--set train.lr=") as raised:
        events(session, prose, 9.0)
    assert "train.clip" not in str(raised.value), "the recipe clips already"


def test_the_loss_shown_is_the_mean_over_batches(session: TrainingSession, prose: Path) -> None:
    """The test computes the losses itself; a tiny learning rate keeps the model constant."""
    model, batches = reader(session), session.setup.batches
    config = load_recipe(
        prose / "pretrain.toml", ["train.epochs=1", "train.lr=1e-12"], command="pretrain"
    ).train
    model.forget = 0.0
    for part in model.modules():
        if isinstance(part, torch.nn.Dropout):
            part.p = 0.0
    model.model.softmax.sampled = 0
    with torch.no_grad():
        losses = [float(model.loss(batch.content)) for batch in batches.batches(0)]
    model.begin()
    *steps, epoch = train(
        session.state, replace(session.setup, evaluate=lambda: DevScore(0.0, "", "")), config
    )
    assert isinstance(epoch, Epoch)
    assert len(steps) == len(losses) == batches.size(0)
    assert epoch.loss == pytest.approx(sum(losses) / len(losses), rel=1e-3)


def test_the_dev_score_is_the_negative_log_perplexity(
    job: LanguageModelJob, session: TrainingSession
) -> None:
    score = session.setup.evaluate()
    ahead, back = score.details["perplexity"].values()
    assert score.value == pytest.approx(-(math.log(ahead) + math.log(back)) / 2)
    assert f"{ahead:,.2f} forward, {back:,.2f} backward" in score.shown


def test_the_summary_describes_the_text_and_the_steps(
    job: LanguageModelJob, session: TrainingSession
) -> None:
    rows = dict(session.setup.summary)
    assert rows["text"].startswith(f"{job.data.train.words:,} words, {job.data.heldout.words:,} held out")
    assert f"{len(job.data.vocabulary):,} words" in rows["predicts"]
    assert rows["steps"] == f"{session.setup.batches.size(0):,} per epoch, 3 epochs"


def test_the_data_key_changes_only_with_settings_that_affect_data(prose: Path) -> None:
    def key(*changes: str) -> str:
        return data_key(load_recipe(prose / "pretrain.toml", changes, command="pretrain"))

    assert key() == key("train.lr=0.5") == key("model.hidden=20")
    assert len({key(), key("data.vocabulary=30"), key("model.longest=9")}) == 3


def test_unsupported_operations_are_refused(prose: Path) -> None:
    recipe = load_recipe(prose / "pretrain.toml", command="pretrain")
    with pytest.raises(GonieError, match=r"data\.cache"):
        prepare(recipe, lambda _: None)
    with pytest.raises(GonieError, match="does not learn from labelled examples"):
        read_dev(recipe, lambda _: None)
    with pytest.raises(GonieError, match="does not learn from labelled examples"):
        synthetic(recipe)
