"""What a classifier's recipe may say: what cannot work together is refused before anything is read."""

from __future__ import annotations

from typing import Any

import pytest

from gonie.errors import RecipeError
from gonie.tasks.classification.recipe import TextRecipe
from gonie.tasks.recipe import check_recipe

PLAIN: dict[str, Any] = {"task": "classify", "data": {"train": "x.tsv"}, "model": {"words": {}}}


def recipe(**changes: Any) -> TextRecipe:
    """The plain recipe with whole sections replaced."""
    made = check_recipe({**PLAIN, **changes}, source="a test")
    assert isinstance(made, TextRecipe)
    return made


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ({"model": {}}, "the model has no input"),
        ({"model": {"bag": {}}}, "the encoder has no input"),
        ({"model": {"bag": {"chars": [0, 0]}, "words": {}}}, r"chars and words are both \[0, 0\]"),
        ({"model": {"bag": {"chars": [4, 1]}, "words": {}}}, "invalid n-gram lengths"),
        (
            {"data": {"train": "x", "sentences": "text"}, "model": {"words": {}, "sentences": {}}},
            "needs texts split",
        ),
        ({"data": {"train": "x", "sentences": "mark"}}, "no second level"),
        ({"data": {"train": "x", "folds": 10, "fold": 11}}, "invalid fold: 11 of 10"),
        ({"data": {"train": "x", "folds": 1}}, "invalid fold: 1 of 1"),
        ({"data": {"train": "x", "folds": 5, "test": "y"}}, "cannot be combined with data.test"),
        ({"train": {"optimizer": "per-window"}}, "per-window is for taggers"),
        ({"model": {"words": {}, "pooling": {"kinds": []}}}, "at least 1 item"),
        (
            {"model": {"words": {}, "pooling": {"kinds": ["atention"]}}},
            "unknown name: 'atention'",
        ),
        ({"task": "translate"}, "task: gonie train does not train 'translate'; use tag or classify or pair"),
    ],
    ids=str,
)
def test_what_cannot_work_is_refused_with_its_reason(changes: dict[str, Any], told: str) -> None:
    with pytest.raises(RecipeError, match=told):
        recipe(**changes)


def test_a_second_level_reads_sentences_unless_told_otherwise() -> None:
    """A user's own file has no marks between sentences: the tokenizer then finds them."""
    assert recipe().cut_by == "text"
    assert recipe(model={"words": {}, "sentences": {}}).cut_by == "sentence"
    marked = recipe(data={"train": "x", "sentences": "mark"}, model={"words": {}, "sentences": {}})
    assert marked.cut_by == "mark"


def test_n_grams_alone_are_a_model() -> None:
    alone = recipe(model={"bag": {"words": [1, 2]}, "encoder": {"kind": "none"}})
    assert not alone.model.sees_tokens
    assert alone.model.groups == ()


def test_what_only_a_tagger_has_is_unknown_to_a_classifier() -> None:
    with pytest.raises(RecipeError, match=r"data\.tag_column: unknown key"):
        recipe(data={"train": "x", "tag_column": 1})
