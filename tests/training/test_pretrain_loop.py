"""The loop over running text: what it yields, and that an epoch begins with nothing read."""

from __future__ import annotations

import math
from pathlib import Path

import pytest
import torch

from gonie.errors import GonieError
from gonie.tasks.language_model.torch.data import read_pretrain_data
from gonie.tasks.language_model.torch.perplexity import Perplexity
from gonie.tasks.recipe import load_recipe
from gonie.training.loop import Step
from gonie.training.pretrain_loop import PretrainEpoch, mean_loss, pretrain
from gonie.training.pretrain_run import LanguageModelTrainee, begin


@pytest.fixture
def trainee(prose: Path, tmp_path: Path) -> LanguageModelTrainee:
    recipe = load_recipe(prose / "pretrain.toml", command="pretrain")
    return begin(recipe, read_pretrain_data(recipe, tmp_path, lambda _: None))


def events(
    trainee: LanguageModelTrainee, prose: Path, *found: float
) -> list[tuple[Step | PretrainEpoch, bool]]:
    """What the loop yields, each with whether the rows then carry something."""
    config = load_recipe(prose / "pretrain.toml", [f"train.epochs={len(found)}"], command="pretrain").train
    scores = iter(found)

    def measure() -> Perplexity:
        score = next(scores)
        return Perplexity(score, score)

    loop = pretrain(trainee.state, trainee.reader, trainee.feed, config, measure)
    return [(event, bool(trainee.reader.states.any() or trainee.reader.cells.any())) for event in loop]


def test_rows_carry_on_within_an_epoch_and_begin_the_next_with_nothing(
    trainee: LanguageModelTrainee, prose: Path
) -> None:
    """The next epoch cuts the text elsewhere: what a row has read is not what stands before its text."""
    for event, carries in events(trainee, prose, 9.0, 8.0):
        assert carries == isinstance(event, Step)


def test_the_best_epoch_is_that_of_the_lowest_perplexity(trainee: LanguageModelTrainee, prose: Path) -> None:
    found = [event for event, _ in events(trainee, prose, 9.0, 5.0, 7.0) if isinstance(event, PretrainEpoch)]
    assert [event.improved for event in found] == [True, True, False]
    assert trainee.state.progress.best_epoch == 1
    assert trainee.state.progress.finished


def test_a_loss_that_is_no_number_ends_it_with_advice(trainee: LanguageModelTrainee, prose: Path) -> None:
    with torch.no_grad():
        trainee.model.softmax.bias[0] = math.nan
    with pytest.raises(GonieError, match=r"loss became nan in epoch 1.*--set train.lr="):
        events(trainee, prose, 9.0)


def test_the_loss_is_a_mean_over_the_words_that_count(trainee: LanguageModelTrainee) -> None:
    trainee.reader.eval()
    batch = next(iter(trainee.feed.batches(0)))
    losses = trainee.reader(batch)
    trainee.reader.begin()
    counts = torch.stack([batch.ahead.counts, batch.back.counts])
    assert not counts.all()
    torch.testing.assert_close(mean_loss(trainee.reader, batch), losses[counts].mean())
