"""Recipes of classifiers: invalid settings are refused before any data is read."""

from __future__ import annotations

from typing import Any

import pytest

from gonie.errors import RecipeError
from gonie.tasks.classification.recipe import TextRecipe
from gonie.tasks.recipe import check_recipe

PLAIN: dict[str, Any] = {"task": "classify", "data": {"train": "x.tsv"}, "model": {"words": {}}}


def recipe(**changes: Any) -> TextRecipe:
    """Return the plain recipe with whole sections replaced."""
    made = check_recipe({**PLAIN, **changes}, source="a test")
    assert isinstance(made, TextRecipe)
    return made


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ({"model": {}}, "the model has no input"),
        ({"model": {"bag": {}}}, "the encoder has no input"),
        (
            {"model": {"bag": {"chars": [0, 0]}, "words": {}}},
            r"model\.bag\.chars and model\.bag\.words are both \[0, 0\]",
        ),
        ({"model": {"bag": {"chars": [4, 1]}, "words": {}}}, "invalid n-gram lengths"),
        (
            {"data": {"train": "x", "sentences": "text"}, "model": {"words": {}, "sentences": {}}},
            "needs texts split",
        ),
        ({"data": {"train": "x", "sentences": "mark"}}, "no second level"),
        ({"data": {"train": "x", "folds": 10, "fold": 11}}, r"a test: data\.fold: 11 of 10 folds"),
        ({"data": {"train": "x", "folds": 1}}, "data.fold: 1 of 1 folds"),
        ({"data": {"train": "x", "folds": 5, "test": "y"}}, "cannot be combined with data.test"),
        ({"train": {"optimizer": "per-window"}}, "per-window is for taggers"),
        ({"model": {"words": {}, "pooling": {"kinds": []}}}, "a list of 1 or more items"),
        (
            {"model": {"words": {}, "pooling": {"kinds": ["atention"]}}},
            "unknown name: 'atention'",
        ),
        ({"task": "translate"}, "task: unknown task 'translate'; use tag, classify or pair"),
    ],
    ids=str,
)
def test_invalid_recipes_are_refused_with_a_reason(changes: dict[str, Any], told: str) -> None:
    with pytest.raises(RecipeError, match=told):
        recipe(**changes)


def test_hierarchical_models_split_texts_into_sentences_by_default() -> None:
    """A user's own file has no marks between sentences, so the tokenizer finds them."""
    assert recipe().cut_by == "text"
    assert recipe(model={"words": {}, "sentences": {}}).cut_by == "sentence"
    marked = recipe(data={"train": "x", "sentences": "mark"}, model={"words": {}, "sentences": {}})
    assert marked.cut_by == "mark"


def test_a_model_can_use_n_grams_alone() -> None:
    alone = recipe(model={"bag": {"words": [1, 2]}, "encoder": {"kind": "none"}})
    assert not alone.model.sees_tokens
    assert alone.model.groups == ()


def test_columns_may_be_numbers() -> None:
    """A pandas table without a header has them as integers."""
    data = recipe(data={"train": "x", "text_column": 1, "label_column": 0}).data
    assert (data.text_column, data.label_column) == ("1", "0")


def test_keys_of_taggers_are_unknown_to_classifiers() -> None:
    with pytest.raises(RecipeError, match=r"data\.tag_column: unknown key"):
        recipe(data={"train": "x", "tag_column": 1})
