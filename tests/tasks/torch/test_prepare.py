"""Each task is read in its own way, and told apart by its recipe."""

from __future__ import annotations

from pathlib import Path

from gonie.tasks.classification.torch.job import TextJob
from gonie.tasks.recipe import load_recipe
from gonie.tasks.tagging.torch.job import TagJob
from gonie.tasks.torch.prepare import data_key, prepare


def test_a_recipe_becomes_the_job_of_its_task(toy: Path, text_toy: Path) -> None:
    notes: list[str] = []
    assert isinstance(prepare(load_recipe(toy / "toy.toml"), notes.append), TagJob)
    assert any("80 sentences" in note for note in notes)
    assert isinstance(prepare(load_recipe(text_toy / "texts.toml"), notes.append), TextJob)
    assert any("60 texts" in note for note in notes)


def test_data_key_is_the_same_for_other_ways_to_learn_from_it(toy: Path, text_toy: Path) -> None:
    for path in (toy / "toy.toml", text_toy / "texts.toml"):
        assert data_key(load_recipe(path)) == data_key(load_recipe(path, ["train.lr=0.5"]))
        assert data_key(load_recipe(path)) != data_key(load_recipe(path, ["data.digits=false"]))
    both = {data_key(load_recipe(path)) for path in (toy / "toy.toml", text_toy / "texts.toml")}
    assert len(both) == 2
