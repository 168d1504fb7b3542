"""How a file of pairs is read for a model: by the columns of its recipe, unless the user names others."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from gonie.formats.pairs import PairOptions


def pair_options(recipe: Mapping[str, Any], **changes: Any) -> PairOptions:
    """Return the options of reading pairs in a recipe's ``data``, with some of them changed."""
    data = recipe.get("data", {})
    texts = data.get("text_columns")
    options = PairOptions(
        texts=None if texts is None else (texts[0], texts[1]),
        label=data.get("label_column"),
        value=data.get("value_column"),
    )
    return replace(options, **changes)
