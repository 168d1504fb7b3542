"""If these break, a file is read by other columns than those that the model was trained on."""

from __future__ import annotations

from gonie.formats.pairs import PairOptions
from gonie.tasks.pairs.read_options import pair_options


def test_the_columns_are_those_of_the_recipe_unless_changed() -> None:
    recipe = {"data": {"text_columns": ["p", "h"], "value_column": "v", "train": "x"}}
    assert pair_options(recipe) == PairOptions(texts=("p", "h"), value="v")
    assert pair_options(recipe, value="w", format="csv") == PairOptions(
        texts=("p", "h"), value="w", format="csv"
    )
    assert pair_options(recipe, gold=False).gold is False


def test_without_a_recipe_they_are_found_by_their_names() -> None:
    assert pair_options({}) == PairOptions()
