"""Options for reading pairs for a model: the columns of its recipe, unless the user names others."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from gonie.formats.pairs import PairOptions


def pair_options(recipe: Mapping[str, Any], **changes: Any) -> PairOptions:
    """Return the options in a recipe's ``data``, with ``changes``."""
    data = recipe.get("data", {})
    texts = data.get("text_columns")
    options = PairOptions(
        texts=None if texts is None else (texts[0], texts[1]),
        label=data.get("label_column"),
        value=data.get("value_column"),
    )
    return replace(options, **changes)
