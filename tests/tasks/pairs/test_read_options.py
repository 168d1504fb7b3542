"""If these break, a file is read with columns other than those of training."""

from __future__ import annotations

import pytest

from gonie.errors import InputError
from gonie.tasks.pairs.read_options import model_options, pair_options
from gonie.text.labelled_text import ColumnWords, PairOptions


def test_columns_come_from_the_recipe_unless_overridden() -> None:
    recipe = {"data": {"text_columns": ["p", "h"], "value_column": "v", "train": "x"}}
    assert pair_options(recipe) == PairOptions(texts=("p", "h"), value="v")
    assert pair_options(recipe, value="w", format="csv") == PairOptions(
        texts=("p", "h"), value="w", format="csv"
    )
    assert pair_options(recipe, gold=False).gold is False


def test_without_a_recipe_the_default_options_are_used() -> None:
    assert pair_options({}) == PairOptions()


def test_a_model_reads_the_columns_of_its_training_unless_others_are_asked_for() -> None:
    recipe = {"data": {"text_columns": ["p", "h"], "label_column": "gold"}}
    options = model_options(recipe, answer={"label": "mine"})
    assert (options.texts, options.label) == (("p", "h"), "mine")
    assert options.reasons == ColumnWords("as in training", "as asked")
    assert model_options(recipe, texts=["a", "b"]).texts == ("a", "b")
    with pytest.raises(InputError, match=r"expected two columns.*got 1: a\. Pass --two"):
        model_options(recipe, texts=["a"], advice=ColumnWords("--two", ""))
