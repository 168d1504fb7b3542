"""If these break, a file is read with columns other than those of training."""

from __future__ import annotations

from gonie.formats.pairs import PairOptions
from gonie.tasks.pairs.read_options import pair_options


def test_columns_come_from_the_recipe_unless_overridden() -> None:
    recipe = {"data": {"text_columns": ["p", "h"], "value_column": "v", "train": "x"}}
    assert pair_options(recipe) == PairOptions(texts=("p", "h"), value="v")
    assert pair_options(recipe, value="w", format="csv") == PairOptions(
        texts=("p", "h"), value="w", format="csv"
    )
    assert pair_options(recipe, gold=False).gold is False


def test_without_a_recipe_the_default_options_are_used() -> None:
    assert pair_options({}) == PairOptions()
