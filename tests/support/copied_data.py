"""Data with augmented or noisy copies: a folder with its recipe ``r.toml``, and what training reads of it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from gonie.tasks.recipe import load_recipe
from gonie.tasks.torch.prepare import prepare
from gonie.text.tokenizers import SyllableTokenizer
from gonie.text.types import Sentence


def write_data(folder: Path, recipe: str, files: Mapping[str, str]) -> Path:
    """Write the files and the recipe, in which ``{folder}`` is the folder, and return the folder."""
    for name, text in files.items():
        (folder / name).write_text(text, "utf-8")
    (folder / "r.toml").write_text(recipe.format(folder=folder), "utf-8")
    return folder


def loaded(folder: Path, *changes: str) -> Any:
    """Load the recipe of a folder."""
    return load_recipe(folder / "r.toml", changes)


def prepared(folder: Path, *changes: str) -> tuple[Any, list[str]]:
    """Return the data that training reads, and the notes on them."""
    notes: list[str] = []
    job: Any = prepare(loaded(folder, *changes), notes.append)
    return job.data, notes


def keys_of_seeds(key: Callable[[Any], str], folder: Path, *changes: str) -> set[str]:
    """Return the different keys of the data with two seeds."""
    return {key(loaded(folder, f"train.seed={seed}", *changes)) for seed in (1, 2)}


def syllables(text: str, *tags: str, path: str = "", line: int = 0) -> Sentence:
    """Return a text cut into syllables, with their tags."""
    (sentence,) = SyllableTokenizer()(text)
    return Sentence(sentence.words, tags, {}, text, sentence.starts, sentence.ends, path, line)
