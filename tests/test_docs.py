"""Tests the generated reference pages, which must match the recipe keys and the commands."""

from __future__ import annotations

import importlib
import importlib.util
import re
import subprocess
import sys
from pathlib import Path
from types import ModuleType
from typing import Annotated, Any, Literal

import pytest
from pydantic import BaseModel, Field

from gonie.tasks.recipe import is_named, recipe_types
from gonie.tasks.sections import Section

ROOT = Path(__file__).parent.parent
RECIPES = {**recipe_types("train"), **recipe_types("pretrain")}
TOOL = ROOT / "tools" / "make_docs.py"


@pytest.fixture(scope="module")
def tool() -> ModuleType:
    spec = importlib.util.spec_from_file_location("make_docs", TOOL)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_generated_pages_are_up_to_date() -> None:
    """If this fails: python tools/make_docs.py"""
    ended = subprocess.run(
        [sys.executable, TOOL, "--check"], capture_output=True, text=True, check=False, timeout=120
    )
    assert ended.returncode == 0, ended.stderr


def test_the_members_listed_in_the_python_reference_exist() -> None:
    page = (ROOT / "docs" / "reference" / "python.md").read_text("utf-8")
    listed = re.findall(r"^::: (\S+)\.(\w+)\n    options:\n      members: \[(.+)\]$", page, re.MULTILINE)
    assert len(listed) == 7
    for module, name, members in listed:
        documented = getattr(importlib.import_module(module), name)
        assert not [member for member in members.split(", ") if not hasattr(documented, member)]


def test_every_recipe_key_is_in_the_reference() -> None:
    """A section that tasks share is listed only under the first of them."""
    page = (ROOT / "docs" / "reference" / "recipe.md").read_text("utf-8")
    _, *parts = page.split("# The recipe of `task = ")
    rows = [re.findall(r"^\| `([a-z0-9_.]+|heads\.NAME\.[a-z_]+)` \|", part, re.MULTILINE) for part in parts]
    assert len(rows) == len(RECIPES)
    assert sorted(rows[0]) == sorted(_keys(RECIPES["tag"]))
    for part, found, kind in zip(parts, rows, RECIPES.values(), strict=True):
        same = re.findall(r"^## `\[([a-z.]+)\]`\n\nThe same keys as above", part, re.MULTILINE)
        missing = set(_keys(kind)) - set(found)
        assert all(any(key.startswith(f"{section}.") for section in same) for key in missing)
        assert len(set(found)) == len(found)


def _keys(model: type[BaseModel], prefix: str = "") -> list[str]:
    found = []
    for name, field in model.model_fields.items():
        found.append(prefix + name)
        for option in (field.annotation, *getattr(field.annotation, "__args__", ())):
            if isinstance(option, type) and issubclass(option, Section):
                named = "NAME." if is_named(field.annotation) else ""
                found += _keys(option, f"{prefix}{name}.{named}")
    return found


def test_the_main_commands_are_in_the_reference() -> None:
    page = (ROOT / "docs" / "reference" / "commands.md").read_text("utf-8")
    commands = (
        *("demo", "train", "evaluate", "tag", "classify", "explain", "compare", "vectors", "check-gradients"),
    )
    for command in (*commands, "data check", "data stats", "data convert"):
        assert f"## `gonie {command}`" in page
        assert f"Usage: gonie {command}" in page


@pytest.mark.parametrize(
    ("annotation", "words"),
    [
        (str, "text"),
        (int | str | None, "whole number or text"),
        (Annotated[float, Field(ge=0, lt=1)], "number ≥ 0 and < 1"),
        (Annotated[int, Field(ge=1)] | None, "whole number ≥ 1"),
        (list[Literal["a", "b"]], "list of `a`, `b`"),
        (dict[str, int], "table: name = whole number"),
    ],
)
def test_types_are_described_in_words(tool: ModuleType, annotation: Any, words: str) -> None:
    assert tool.named(annotation) == words
