"""The pages made from the code: a key or an option that changed must change there too."""

from __future__ import annotations

import importlib.util
import re
import subprocess
import sys
from pathlib import Path
from types import ModuleType
from typing import Annotated, Any, Literal

import pytest
from pydantic import BaseModel, Field

from gonie.models.config import Recipe, Section

ROOT = Path(__file__).parent.parent
TOOL = ROOT / "tools" / "make_docs.py"


@pytest.fixture(scope="module")
def tool() -> ModuleType:
    spec = importlib.util.spec_from_file_location("make_docs", TOOL)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_pages_are_fresh() -> None:
    """If this fails: python tools/make_docs.py"""
    ended = subprocess.run(
        [sys.executable, TOOL, "--check"], capture_output=True, text=True, check=False, timeout=120
    )
    assert ended.returncode == 0, ended.stderr


def test_every_key_stands_once_in_the_page_of_recipes() -> None:
    page = (ROOT / "docs" / "recipe.md").read_text("utf-8")
    rows = re.findall(r"^\| `([a-z0-9_.]+)` \|", page, re.MULTILINE)
    assert sorted(rows) == sorted(_keys(Recipe))
    assert len(set(rows)) == len(rows)


def _keys(model: type[BaseModel], prefix: str = "") -> list[str]:
    found = []
    for name, field in model.model_fields.items():
        found.append(prefix + name)
        for option in (field.annotation, *getattr(field.annotation, "__args__", ())):
            if isinstance(option, type) and issubclass(option, Section):
                found += _keys(option, f"{prefix}{name}.")
    return found


def test_every_command_has_its_heading() -> None:
    page = (ROOT / "docs" / "commands.md").read_text("utf-8")
    commands = ("demo", "train", "evaluate", "tag", "compare", "vectors", "check-gradients")
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
def test_types_are_told_in_words(tool: ModuleType, annotation: Any, words: str) -> None:
    assert tool.named(annotation) == words
