"""Episodes as batches: other types become O, and any episode can be drawn again."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch

from gonie.errors import InputError
from gonie.tasks.recipe import load_recipe
from gonie.tasks.tagging.torch.data import read_tag_data
from gonie.tasks.tagging.torch.support import sentence_pool
from gonie.tasks.torch.episode_batches import EpisodeBatches


def episodes(toy: Path, *changes: str) -> tuple[EpisodeBatches, tuple[str, ...]]:
    recipe = load_recipe(toy / "toy.toml", ["train.episodes.ways=1", "train.episodes.number=5", *changes])
    data = read_tag_data(recipe, lambda text: None)
    pool = sentence_pool(data.train, data.encoding)
    return EpisodeBatches(data.train, pool, recipe.train, torch.device("cpu")), data.encoding.labels


def test_types_that_an_episode_does_not_have_become_o(toy: Path) -> None:
    batches, labels = episodes(toy)
    types = set()
    for batch in batches.batches(0):
        tags = batch.content["tags"][batch.content["mask"]]
        found = {labels[number].partition("-")[2] for number in tags.tolist()} - {""}
        assert len(found) == 1, "one way: one type and O"
        types |= found
        assert batch.content["support"].any()
        assert not batch.content["support"].all()
        assert batch.tokens == int(batch.content["mask"].sum())
    assert types == {"PER", "LOC"}


def test_an_episode_depends_only_on_the_seed_its_epoch_and_its_number(toy: Path) -> None:
    first, second = ([b.content["words"].tolist() for b in episodes(toy)[0].batches(1, k)] for k in (0, 2))
    assert first[2:] == second
    other = [b.content["words"].tolist() for b in episodes(toy)[0].batches(2)]
    assert first != other


def test_too_many_shots_are_refused(toy: Path) -> None:
    with pytest.raises(InputError, match=r"train\.episodes\.shots = 999"):
        episodes(toy, "train.episodes.shots=999")


def test_shots_that_leave_too_few_examples_are_named(toy: Path) -> None:
    """The file may have enough of them, so the shots of episodes are not the only key to change."""
    with pytest.raises(InputError, match=r"lower number, or raise train\.shots = 5, which limits"):
        episodes(toy, "train.episodes.shots=999", "train.shots=5")
