"""Preparing jobs: the task of the recipe decides how the data is read."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest

from gonie.errors import RecipeError
from gonie.tasks.classification.torch.job import TextJob
from gonie.tasks.classification.torch.network import ClassifyingNetwork
from gonie.tasks.pairs.torch.job import PairJob
from gonie.tasks.pairs.torch.network import PairNetwork
from gonie.tasks.recipe import load_recipe, recipe_names, recipe_types
from gonie.tasks.tagging.torch.job import TagJob
from gonie.tasks.tagging.torch.network import TaggingNetwork
from gonie.tasks.torch.prepare import data_key, prepare, synthetic, without_effect
from gonie.training.loss_terms.table import build_terms, total_loss
from gonie.training.loss_terms.term import TermContext

NETWORKS = {"tag": TaggingNetwork, "classify": ClassifyingNetwork, "pair": PairNetwork}


def test_a_recipe_becomes_the_job_of_its_task(toy: Path, text_toy: Path, pair_toy: Path) -> None:
    notes: list[str] = []
    assert isinstance(prepare(load_recipe(toy / "toy.toml"), notes.append), TagJob)
    assert any("80 sentences" in note for note in notes)
    assert isinstance(prepare(load_recipe(text_toy / "texts.toml"), notes.append), TextJob)
    assert any("60 texts" in note for note in notes)
    for kind in ("labels", "values"):
        assert isinstance(prepare(load_recipe(pair_toy / f"{kind}.toml"), notes.append), PairJob)


def test_the_data_key_does_not_depend_on_training_settings(toy: Path, text_toy: Path, pair_toy: Path) -> None:
    paths = (toy / "toy.toml", text_toy / "texts.toml", pair_toy / "labels.toml", pair_toy / "values.toml")
    for path in paths:
        assert data_key(load_recipe(path)) == data_key(load_recipe(path, ["train.lr=0.5"]))
        assert data_key(load_recipe(path)) != data_key(load_recipe(path, ["data.digits=false"]))
    assert len({data_key(load_recipe(path)) for path in paths}) == len(paths)


@pytest.mark.parametrize("name", recipe_names(*recipe_types("train")))
def test_a_synthetic_network_has_the_task_of_the_recipe(name: str) -> None:
    recipe = load_recipe(name, absent={"data.train": "not-there"})
    specimen = synthetic(recipe)
    assert isinstance(specimen.model, NETWORKS[recipe.task])
    context = TermContext(recipe=recipe, model=specimen.model, examples=specimen.examples)
    terms = build_terms(context).values()
    assert total_loss(specimen.model, specimen.batch, terms).isfinite()


@pytest.mark.parametrize(
    ("changes", "setting"),
    [
        ([], """'model.features.groups=["gazetteer"]'"""),
        (['model.features.groups=["spelling"]'], """'model.features.groups=["spelling", "gazetteer"]'"""),
        (
            ["model.words=none", "model.encoder.kind=none", 'model.head.direct=["context"]'],
            """'model.head.direct=["context", "gazetteer"]'""",
        ),
    ],
)
def test_gazetteers_that_no_part_uses_are_refused(
    changes: list[str], setting: str, toy: Path, tmp_path: Path
) -> None:
    cities = tmp_path / "cities.txt"
    cities.write_text("Paris\n")
    changes = [*changes, f"data.gazetteers.city={cities}"]
    with pytest.raises(RecipeError, match=rf"data\.gazetteers: .*--set {re.escape(setting)}, or remove"):
        prepare(load_recipe(toy / "toy.toml", changes), lambda note: None)
    proposed = shlex.split(setting)[0]
    prepare(load_recipe(toy / "toy.toml", [*changes, proposed]), lambda note: None)
    prepare(load_recipe(toy / "toy.toml", [*changes, "data.gazetteers={}"]), lambda note: None)


@pytest.mark.parametrize(
    ("changes", "key"),
    [
        (["data.backoff=true"], "data.backoff"),
        (["data.noise.kinds={typos = 1.0}"], "data.noise.kinds"),
        (["data.augment.kinds={typos = 1.0}"], "data.augment.kinds"),
        (["data.augment.rate=0.5"], "data.augment.rate"),
        (["data.augment.rate=0.5", "data.augment.copies=1"], None),
        (["data.vectors_limit=5"], "data.vectors_limit"),
        (["data.context_window=3"], "data.context_window"),
        (["data.context_grams=3"], "data.context_grams"),
        (["data.columns={pos = 0}"], "data.columns"),
        (["data.correct_typos=true", "model.words=none", "model.chars.kind=cnn"], "data.correct_typos"),
        (["data.correct_typos=true"], None),
        (["data.context_window=3", 'model.head.direct=["context"]'], None),
        ([], None),
    ],
)
def test_settings_without_effect_are_noted(changes: list[str], key: str | None, toy: Path) -> None:
    notes: list[str] = []
    prepare(load_recipe(toy / "toy.toml", changes), notes.append)
    found = [note.partition(" has no effect: ")[0] for note in notes if "has no effect" in note]
    assert found == ([] if key is None else [key])


def test_settings_that_a_start_has_set_are_not_noted(toy: Path) -> None:
    """A start such as one of ner-ko has context_grams, which its own head needs and the new one may not."""
    changes = ["data.context_grams=3", "data.backoff=true", "data.columns={pos = 0}"]
    recipe = load_recipe(toy / "toy.toml", [*changes, "train.start=runs/x"])
    assert not list(without_effect(recipe))
    assert len(list(without_effect(load_recipe(toy / "toy.toml", changes)))) == 3


@pytest.mark.parametrize("name", recipe_names(*recipe_types("train")))
def test_shipped_recipes_have_no_settings_without_effect(name: str) -> None:
    recipe = load_recipe(name, absent={"data.train": "not-there"})
    assert not list(without_effect(recipe))
