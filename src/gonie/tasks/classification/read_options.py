"""How a model reads files of texts: as in training, unless options change it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from gonie.errors import BundleError
from gonie.text.labelled_text import TextOptions, Unlabelled

NAMES = ("text_column", "label_column", "label_separator")
"""Keys of a recipe's ``data`` with names for reading texts."""


def text_options(recipe: Mapping[str, Any], **changes: Any) -> TextOptions:
    """Return the reading options of a recipe's ``data``, with changes."""
    data = recipe.get("data", {})
    try:
        names: dict[str, Any] = {key: _names(data[key]) for key in NAMES if key in data}
        marks = tuple(map(_text, data.get("marks", ())))
        renamed = {_text(old): _text(new) for old, new in data.get("map", {}).items()}
    except (TypeError, AttributeError) as error:
        raise BundleError(
            f"invalid data section in the model's recipe: {error}. Export the model again."
        ) from error
    unlabelled: Unlabelled = "error" if data.get("unlabelled") == "error" else "skip"
    return replace(TextOptions(**names, marks=marks, unlabelled=unlabelled, map=renamed), **changes)


def _names(value: Any) -> str | tuple[str, ...]:
    """Return a name, or the names of a list."""
    return tuple(map(_text, value)) if isinstance(value, list) else _text(value)


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise TypeError(f"not a name: {value!r}")
    return value
