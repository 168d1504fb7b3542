"""Batches of examples: each example once per epoch, reproducible, and resumable at any batch."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch

from gonie.features.batching import mixed_batches
from gonie.tasks.recipe import load_recipe
from gonie.tasks.tagging.torch.data import read_tag_data
from gonie.tasks.torch.example_batches import CutBatches, ExampleBatches, RepeatedBatches, batch_size
from gonie.tasks.torch.training_setup import Batches


def batches_of(toy: Path, seed: int = 1, **options: CutBatches) -> ExampleBatches:
    recipe = load_recipe(toy / "toy.toml", [f"train.seed={seed}"])
    examples = read_tag_data(recipe, lambda text: None).train
    return ExampleBatches(examples, recipe.train, torch.device("cpu"), **options)


def words(batches: Batches, epoch: int, first: int = 0) -> list[list[list[int]]]:
    return [batch.content["words"].tolist() for batch in batches.batches(epoch, first)]


@pytest.mark.parametrize("options", [{}, {"cut": mixed_batches}])
def test_an_epoch_has_every_example_once(toy: Path, options: dict[str, CutBatches]) -> None:
    made = batches_of(toy, **options)
    found = list(made.batches(3))
    assert len(found) == made.size(3)
    assert sum(batch.weight for batch in found) == made.weight(3) == 80
    assert all(batch.weight == len(batch.content["words"]) for batch in found)
    assert all(batch.tokens == int(batch.content["mask"].sum()) for batch in found)


def test_the_order_depends_on_the_seed_and_the_epoch(toy: Path) -> None:
    made = batches_of(toy)
    assert words(made, 0) == words(batches_of(toy), 0)
    assert words(made, 0) != words(made, 1)
    assert words(made, 0) != words(batches_of(toy, seed=2), 0)


def test_an_epoch_can_start_at_any_batch(toy: Path) -> None:
    made = batches_of(toy)
    whole = words(made, 2)
    for first in (0, 1, len(whole) - 1, len(whole)):
        assert words(batches_of(toy), 2, first) == whole[first:]


@pytest.mark.parametrize(("sentences", "size"), [(10, 4), (400, 4), (1000, 10), (3200, 32), (10**6, 32)])
def test_the_automatic_batch_size_grows_with_the_corpus(toy: Path, sentences: int, size: int) -> None:
    config = load_recipe(toy / "toy.toml", ["train.batch_sentences=auto"]).train
    assert batch_size(config, sentences) == size
    assert batch_size(load_recipe(toy / "toy.toml").train, sentences) == 8


def test_repeated_passes_are_one_epoch_that_can_start_at_any_batch(toy: Path) -> None:
    """Each pass has every example once, in another order, also that of the next epoch."""
    single = batches_of(toy)
    made = RepeatedBatches(batches_of(toy), 3)
    whole = words(made, 1)
    assert whole == [batch for number in (3, 4, 5) for batch in words(single, number)]
    assert len(whole) == made.size(1)
    assert made.weight(1) == 3 * 80
    for first in (0, 1, single.size(3), single.size(3) + 2, len(whole) - 1, len(whole)):
        found = [batch.content["words"].tolist() for batch in made.batches(1, first)]
        assert found == whole[first:]
