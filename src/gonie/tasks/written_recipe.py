"""Recipes written as TOML with all keys, as in run folders."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from gonie.errors import MissingExtraError, RecipeError
from gonie.system.files import is_utf8
from gonie.tasks.sections import Recipe

ORIGIN = "# Recipe: "
"""The beginning of a comment with the name of the recipe that a run was started with."""


def recipe_origin(path: Path) -> str | None:
    """Return the ``origin`` that ``write_recipe`` wrote to the file, if any."""
    first, _, _ = path.read_text("utf-8").partition("\n")
    return first.removeprefix(ORIGIN) if first.startswith(ORIGIN) else None


def write_recipe(recipe: Recipe, *, origin: str = "") -> str:
    """Return the recipe as TOML, with every key, including defaults.

    ``origin`` is the name of the recipe that it was made from, written as a comment.
    """
    try:
        import tomli_w
    except ImportError as error:
        raise MissingExtraError("tomli-w", extra="train", purpose="writing a recipe") from error
    text = tomli_w.dumps(recipe.model_dump(mode="json", exclude_none=True))
    if not is_utf8(text):
        raise RecipeError(
            ["a file name is not valid UTF-8, so it cannot be written to a recipe; rename the file"]
        )
    return f"{ORIGIN}{origin}\n{text}" if origin and origin.isprintable() else text


def toml_value(value: Any) -> str:
    """Return a value as TOML, on one line: ``false``, ``"text"``, ``{city = "a.txt"}``; ``none`` for None."""
    if isinstance(value, dict):
        return f"{{{', '.join(f'{key} = {toml_value(inner)}' for key, inner in value.items())}}}"
    return "none" if value is None else json.dumps(value, ensure_ascii=False, default=str)
