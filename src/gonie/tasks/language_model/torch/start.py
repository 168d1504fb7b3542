"""Continued training of a language model: its shape, weights and vocabulary come from another model."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import torch

from gonie.errors import RecipeError
from gonie.features.lm_text import FIRST
from gonie.tasks.language_model.recipe import LanguageModelConfig, PretrainRecipe
from gonie.tasks.language_model.shape import BilmConfig
from gonie.tasks.language_model.torch.folder import (
    VOCABULARY,
    Predictions,
    find_bilm,
    load_bilm,
    read_index,
    read_shape,
)
from gonie.tasks.language_model.torch.network import LanguageModel

SETTLE = 0.2
"""Default share of training in which only the softmax is trained, if it is new and the biLM is not."""


def with_shape_of_start(recipe: PretrainRecipe) -> PretrainRecipe:
    """Return the recipe with the shape of the model that it starts from, if any, and ``train.settle``.

    The language and token unit must be those of that model.
    """
    if recipe.model.start is None:
        return recipe
    folder = find_bilm(recipe.model.start)
    index = read_index(folder)
    theirs = {"language": index["language"], "unit": index["unit"]}
    ours = {"language": recipe.data.language, "unit": recipe.data.token_unit}
    if theirs != ours:
        raise RecipeError(
            [
                f"data.{key}: expected {theirs[key]}, as in {recipe.model.start}, got {ours[key]}; "
                f"use --set data.{key}={theirs[key]}"
                for key in theirs
                if theirs[key] != ours[key]
            ]
        )
    shape = read_shape(folder, index)
    kept = {name: getattr(shape, name) for name in BilmConfig.model_fields if name != "dropout"}
    model = recipe.model.model_copy(update=kept)
    settle = recipe.train.settle
    if settle is None and _start_predictions(model) is None:
        settle = SETTLE
    train = recipe.train.model_copy(update={"settle": settle})
    return recipe.model_copy(update={"model": model, "train": train})


def start_vocabulary(config: LanguageModelConfig) -> Sequence[str] | None:
    """Return the vocabulary of the model that it starts from, if it is kept."""
    kept = _start_predictions(config)
    return kept.words if kept and config.softmax.words != "own" else None


def describe_start(config: LanguageModelConfig) -> dict[str, Any]:
    """Describe the model that it starts from: its name and its origin."""
    if config.start is None:
        return {}
    about = read_index(find_bilm(config.start)).get("about", {})
    return {"start": {"model": Path(config.start).name, **about}}


@torch.no_grad()
def load_start(model: LanguageModel, config: LanguageModelConfig, vocabulary: Sequence[str]) -> None:
    """Load the weights of the model that it starts from, and those of the softmax for common words."""
    if config.start is None:
        return
    model.bilm.load_state_dict(load_bilm(config.start).bilm.state_dict())
    kept = _start_predictions(config)
    if kept is None:
        return
    numbers = {word: number for number, word in enumerate(kept.words) if number >= FIRST}
    pairs = [(new, numbers[word]) for new, word in enumerate(vocabulary) if new >= FIRST and word in numbers]
    new, old = torch.tensor([*((i, i) for i in range(FIRST)), *pairs]).t()
    model.softmax.weight[new] = kept.weights["weight"][old]
    model.softmax.bias[new] = kept.weights["bias"][old]


def _start_predictions(config: LanguageModelConfig) -> Predictions | None:
    """Return the softmax of the model that it starts from, if it was saved."""
    if config.start is None:
        return None
    folder = find_bilm(config.start)
    if config.softmax.words != "kept" and not (folder / VOCABULARY).exists():
        return None
    return load_bilm(folder, predictions=True).predictions
