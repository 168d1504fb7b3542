"""A language model that goes on from another one: its shape, its weights, and the words that it predicts."""

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
"""Share of training in which only the softmax learns, where it is new and what it predicts from is not."""


def with_shape_of_start(recipe: PretrainRecipe) -> PretrainRecipe:
    """The recipe with the shape of the model that it starts from, where it names one, and time to settle.

    The language and the unit of the text must be that model's.
    """
    if recipe.model.start is None:
        return recipe
    folder = find_bilm(Path(recipe.model.start))
    index = read_index(folder)
    theirs = {"language": index["language"], "unit": index["unit"]}
    ours = {"language": recipe.data.language, "unit": recipe.data.token_unit}
    if theirs != ours:
        raise RecipeError(
            [
                f"data.{key}: expected {theirs[key]}, as in {recipe.model.start}, got {ours[key]}"
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
    """The words that the model it starts from predicts, where they are to be predicted still."""
    kept = _start_predictions(config)
    return kept.words if kept and config.softmax.words != "own" else None


def describe_start(config: LanguageModelConfig) -> dict[str, Any]:
    """What a model tells of the one that it starts from: its name, and where that one came from."""
    if config.start is None:
        return {}
    about = read_index(find_bilm(Path(config.start))).get("about", {})
    return {"start": {"model": Path(config.start).name, **about}}


@torch.no_grad()
def load_start(model: LanguageModel, config: LanguageModelConfig, vocabulary: Sequence[str]) -> None:
    """Put in the weights of the model it starts from; of its softmax those of words that both predict."""
    if config.start is None:
        return
    model.bilm.load_state_dict(load_bilm(Path(config.start)).bilm.state_dict())
    kept = _start_predictions(config)
    if kept is None:
        return
    numbers = {word: number for number, word in enumerate(kept.words) if number >= FIRST}
    pairs = [(new, numbers[word]) for new, word in enumerate(vocabulary) if new >= FIRST and word in numbers]
    new, old = torch.tensor([*((i, i) for i in range(FIRST)), *pairs]).t()
    model.softmax.weight[new] = kept.weights["weight"][old]
    model.softmax.bias[new] = kept.weights["bias"][old]


def _start_predictions(config: LanguageModelConfig) -> Predictions | None:
    """The softmax of the model it starts from, if it was kept."""
    if config.start is None:
        return None
    folder = find_bilm(Path(config.start))
    if config.softmax.words != "kept" and not (folder / VOCABULARY).exists():
        return None
    return load_bilm(folder, predictions=True).predictions
