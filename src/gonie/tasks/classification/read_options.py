"""How files of texts are read for a model: as those it was trained on, unless the user says otherwise."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from gonie.errors import BundleError
from gonie.text.labelled_text import TextOptions

NAMES = ("text_column", "label_column", "label_separator")
"""Those keys of a recipe's ``data`` that say how texts are read; ``marks`` is a list."""


def text_options(recipe: Mapping[str, Any], **changes: Any) -> TextOptions:
    """The options of reading texts in a recipe's ``data``, with some of them changed."""
    data = recipe.get("data", {})
    try:
        names = {key: _text(data[key]) for key in NAMES if key in data}
        marks = tuple(map(_text, data.get("marks", ())))
    except (TypeError, AttributeError) as error:
        raise BundleError(
            f"expected a recipe that says how its texts are read, got {error}. Export the model again."
        ) from error
    return replace(TextOptions(**names, marks=marks), **changes)


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise TypeError(f"{value!r} as a name")
    return value
