"""Recipes of pair models: invalid settings are refused before any data is read."""

from __future__ import annotations

from typing import Any

import pytest

from gonie.errors import RecipeError
from gonie.tasks.pairs.recipe import PairRecipe
from gonie.tasks.recipe import check_recipe

PLAIN: dict[str, Any] = {"task": "pair", "data": {"train": "x.tsv"}, "model": {"words": {}}}


def recipe(**changes: Any) -> PairRecipe:
    """Return the plain recipe with whole sections replaced."""
    made = check_recipe({**PLAIN, **changes}, source="a test")
    assert isinstance(made, PairRecipe)
    return made


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ({"model": {}}, "the model has no input"),
        ({"data": {"train": "x", "label_column": "a", "value_column": "b"}}, "cannot be combined"),
        (
            {"data": {"train": "x", "scale": [5, 0]}},
            r": data\.scale: 5 is not below 0; write the lowest",
        ),
        ({"data": {"train": "x", "scale": [1, 1]}}, "is not below"),
        ({"data": {"train": "x", "scale": [1]}}, "a list of 2 or more items"),
        ({"data": {"train": "x", "scale": [0, float("nan")]}}, "scale"),
        ({"data": {"train": "x", "text_columns": ["a"]}}, "a list of 2 or more items"),
        ({"data": {"train": "x", "text_columns": ["a", "b", "c"]}}, "at most 2 items"),
        ({"data": {"train": "x", "max_tokens": 0}}, "max_tokens"),
        ({"data": {"train": "x", "max_tokens": 2001}}, "max_tokens"),
        ({"train": {"optimizer": "per-window"}}, "per-window is for taggers"),
        ({"model": {"words": {}, "matching": {"kind": "esin"}}}, "Use one of esim, siamese"),
        ({"model": {"words": {}, "matching": {"pooling": {"kinds": []}}}}, "a list of 1 or more items"),
        ({"model": {"words": {}, "head": {"hidden": -1}}}, "hidden"),
        ({"model": {"words": {}, "bag": {}}}, r"model\.bag: unknown key"),
        ({"data": {"train": "x", "tag_column": 1}}, r"data\.tag_column: unknown key"),
        ({"data": {"train": "x", "text_column": "a"}}, r"data\.text_column: unknown key"),
    ],
    ids=str,
)
def test_invalid_recipes_are_refused_with_a_reason(changes: dict[str, Any], told: str) -> None:
    with pytest.raises(RecipeError, match=told):
        recipe(**changes)


def test_the_default_pair_model_is_esim() -> None:
    made = recipe()
    assert made.model.matching.kind == "esim"
    assert made.model.matching.pooling.kinds == ["mean", "max"]
    assert made.data.max_tokens == 200
    assert made.model.head.hidden > 0


def test_a_new_training_file_drops_the_scale_and_dev_file() -> None:
    """The user's own training file must not be read with the settings of the shipped one."""
    from gonie.tasks.recipe import load_recipe

    own = load_recipe("similarity-ko", ["data.train=mine.tsv"])
    assert isinstance(own, PairRecipe)
    assert own.data.scale is None
    assert own.data.dev is None
    kept = load_recipe("similarity-ko", ["data.train=mine.tsv", "data.scale=[0, 1]"])
    assert isinstance(kept, PairRecipe)
    assert kept.data.scale == [0.0, 1.0]
