"""Files are read with the options of training; an invalid recipe is refused with a message."""

from __future__ import annotations

from typing import Any

import pytest

from gonie.errors import BundleError
from gonie.tasks.classification.read_options import text_options
from gonie.text.labelled_text import TextOptions


def test_options_come_from_the_recipe_unless_overridden() -> None:
    data = {"text_column": "document", "label_separator": "|", "marks": ["e1", "e2"], "train": "x.tsv"}
    assert text_options({"data": data}, label_column=None) == TextOptions(
        text_column="document", label_column=None, label_separator="|", marks=("e1", "e2")
    )


def test_without_a_recipe_the_columns_are_text_and_label() -> None:
    assert text_options({}) == TextOptions()


@pytest.mark.parametrize("data", [{"marks": 3}, {"marks": [3]}, {"text_column": None}, "none", 3, [{}]])
def test_an_invalid_recipe_is_refused(data: Any) -> None:
    with pytest.raises(BundleError, match="invalid data section in the model's recipe"):
        text_options({"data": data})
