"""What is compared: a recipe with settings of its own, or a model that exists already.

On the command line, each is an argument:

    ner                                       a recipe
    small=ner:model.encoder.hidden=50         a recipe with a name and with settings
    runs/ner                                  a run or a bundle
    qwen=llm:http://localhost:8080/v1:shots=5 an in-context model, with settings
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from gonie.experiments.values import split_values
from gonie.tasks.load import LANGUAGE_MODEL, is_in_context, is_model

PLACE = "{size}"
"""Stands for the training size in settings of a recipe."""
NAME = re.compile(r"(?P<name>[^=:/\\]+)=(?P<rest>.+)", re.DOTALL)
KEY = re.compile(r"[a-z]\w*\.[\w.-]+\s*=")
MODEL_KEY = re.compile(r"[a-z]\w*(\.[^=:]+)?\s*=")
SETTINGS = re.compile(rf"(?P<recipe>.+?):(?P<settings>{KEY.pattern}.*)", re.DOTALL)
MODEL_SETTINGS = re.compile(rf"(?P<place>{LANGUAGE_MODEL}.+?):(?P<settings>{MODEL_KEY.pattern}.*)", re.DOTALL)


@dataclass(frozen=True)
class ComparedRecipe:
    """A recipe, its name in the comparison, and the changes (``key=value``) that only it has."""

    name: str
    recipe: str
    changes: tuple[str, ...] = ()

    def changes_at(self, size: str | None) -> tuple[str, ...]:
        """Return the changes with the training size, if there is one, in place of ``{size}``."""
        return self.changes if size is None else tuple(each.replace(PLACE, size) for each in self.changes)

    @property
    def keys(self) -> list[str]:
        """The keys that the changes set."""
        return [change.partition("=")[0].strip() for change in self.changes]


@dataclass(frozen=True)
class ExistingModel:
    """A model that is not trained here: its name in the comparison, its folder or address, and settings."""

    name: str
    place: str
    settings: Mapping[str, str] = field(default_factory=dict)

    @property
    def in_context(self) -> bool:
        """Whether it is an in-context model, which may show labelled examples with each text."""
        return is_in_context(self.place)


def split_models(arguments: Iterable[str]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the arguments that are recipes, and those that are models, with absolute paths."""
    recipes: list[str] = []
    models: list[str] = []
    for argument in arguments:
        name, place = _named(argument)
        if is_in_context(place):
            models.append(argument)
        elif is_model(Path(place).expanduser()):
            folder = Path(place).expanduser().absolute()
            models.append(f"{name or folder.name}={folder}")
        else:
            recipes.append(argument)
    return tuple(recipes), tuple(models)


def read_recipe(argument: str) -> ComparedRecipe:
    """Return the recipe of an argument. Without a name, it is called as it was typed."""
    name, rest = _named(argument)
    match = None if Path(rest).is_file() else SETTINGS.fullmatch(rest)
    if match is None:
        return ComparedRecipe(name or argument, rest)
    return ComparedRecipe(name or argument, match["recipe"], _settings(match["settings"]))


def read_model(argument: str) -> ExistingModel:
    """Return the model of an argument. Settings (``:key=value,…``) are those of in-context models."""
    name, place = _named(argument)
    match = MODEL_SETTINGS.fullmatch(place) if is_in_context(place) else None
    if match is None:
        return ExistingModel(name or argument, place)
    pairs = (part.partition("=") for part in _settings(match["settings"], MODEL_KEY))
    settings = {key.strip(): value.strip() for key, _, value in pairs}
    return ExistingModel(name or match["place"], match["place"], settings)


def _named(argument: str) -> tuple[str, str]:
    """Return the name, empty if there is none, and the rest of an argument."""
    match = None if Path(argument).exists() else NAME.fullmatch(argument)
    return (match["name"].strip(), match["rest"]) if match else ("", argument)


def _settings(text: str, key: re.Pattern[str] = KEY) -> tuple[str, ...]:
    """Return the ``key=value`` in a list of them. A part without a key belongs to the value before it."""
    found: list[str] = []
    for part in split_values(text):
        if found and not key.match(part):
            found[-1] += f",{part}"
        else:
            found.append(part)
    return tuple(found)
