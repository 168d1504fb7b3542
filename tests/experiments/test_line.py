"""Tests what is compared on the command line: recipes with names and settings, and models."""

from __future__ import annotations

from pathlib import Path

import pytest

from gonie.errors import RecipeError
from gonie.experiments.grid import read_grid
from gonie.experiments.line import ComparedRecipe, ExistingModel, read_model, read_recipe, split_models


@pytest.mark.parametrize(
    ("argument", "wanted"),
    [
        ("ner", ComparedRecipe("ner", "ner")),
        ("plain=ner", ComparedRecipe("plain", "ner")),
        ("ner:train.lr=0.1", ComparedRecipe("ner:train.lr=0.1", "ner", ("train.lr=0.1",))),
        (
            "my model=ner:train.lr=0.1,model.encoder.hidden=8",
            ComparedRecipe("my model", "ner", ("train.lr=0.1", "model.encoder.hidden=8")),
        ),
        (
            'f=a/b.toml:model.head.direct=["spelling","context"],train.epochs=2',
            ComparedRecipe("f", "a/b.toml", ('model.head.direct=["spelling","context"]', "train.epochs=2")),
        ),
        ("w=ner:data.vectors=a,b.txt", ComparedRecipe("w", "ner", ("data.vectors=a,b.txt",))),
        ("C:x", ComparedRecipe("C:x", "C:x")),
    ],
)
def test_recipes_have_names_and_settings(argument: str, wanted: ComparedRecipe) -> None:
    assert read_recipe(argument) == wanted


def test_a_file_whose_name_looks_like_settings_is_a_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a=b:c.d=e").write_text('task = "tag"', "utf-8")
    assert read_recipe("a=b:c.d=e") == ComparedRecipe("a=b:c.d=e", "a=b:c.d=e")


@pytest.mark.parametrize(
    ("argument", "wanted"),
    [
        ("llm:http://h:80/v1", ExistingModel("llm:http://h:80/v1", "llm:http://h:80/v1")),
        ("q=llm:m.gguf:shots=5", ExistingModel("q", "llm:m.gguf", {"shots": "5"})),
        (
            "q=llm:http://h:80/v1:shots=5,describe.PER=a, b,format=json",
            ExistingModel("q", "llm:http://h:80/v1", {"shots": "5", "describe.PER": "a,b", "format": "json"}),
        ),
    ],
)
def test_in_context_models_have_settings(argument: str, wanted: ExistingModel) -> None:
    assert split_models([argument, "ner"]) == (("ner",), (argument,))
    assert read_model(argument) == wanted
    assert read_model(argument).in_context


def test_runs_are_models_and_get_absolute_paths(toy_run: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(toy_run.parent)
    recipes, models = split_models([toy_run.name, f"old={toy_run.name}/bundle", "ner"])
    assert recipes == ("ner",)
    assert [read_model(each) for each in models] == [
        ExistingModel(toy_run.name, str(toy_run)),
        ExistingModel("old", str(toy_run / "bundle")),
    ]


def test_settings_of_a_recipe_come_after_those_of_all() -> None:
    grid = read_grid(["a=ner", "b=ner:train.lr=0.5"], ["train.lr=0.1", "train.epochs=2,3"], ("20", "all"))
    assert [axis.key for axis in grid.axes] == ["recipe", "train.epochs", "data.size"]
    found = {grid.name(cell): cell.changes for cell in grid.cells}
    assert len(found) == 8
    assert found["recipe=a epochs=2 size=20"] == ("train.lr=0.1", "train.epochs=2", "data.size=20")
    assert found["recipe=b epochs=3 size=all"] == ("train.epochs=3", "data.size=none", "train.lr=0.5")


def test_settings_may_name_the_size() -> None:
    """So a student of each size can learn from a teacher of the same size."""
    grid = read_grid(["a=ner:data.train=answers-{size}.conll"], [], ("20", "all"))
    assert [cell.changes[-1] for cell in grid.cells] == [
        "data.train=answers-20.conll",
        "data.train=answers-all.conll",
    ]
    (alone,) = read_grid(["a=ner:data.train={size}.conll"], []).cells
    assert alone.changes == ("data.train={size}.conll",)


@pytest.mark.parametrize(
    ("recipes", "changes", "sizes", "words"),
    [
        (["ner", "ner"], [], (), "ner is given twice"),
        (["b=ner:train.lr=0.5"], ["train.lr=0.1,0.2"], (), "b: train.lr is also swept by --set"),
        (["b=ner:data.size=5"], [], ("20", "all"), "b: data.size is also swept"),
        (["ner"], ["data.size=5"], ("20", "all"), "the sizes are those of --sizes"),
    ],
)
def test_a_key_is_set_in_one_place(
    recipes: list[str], changes: list[str], sizes: tuple[str, ...], words: str
) -> None:
    with pytest.raises(RecipeError, match=words):
        read_grid(recipes, changes, sizes)
