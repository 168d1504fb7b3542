"""Synthetic data for small models, for checks without the files of a recipe: words, vectors, gazetteers.

The models are built by the same code as in training. Types of parts, layers, directions and feature groups
are those of the recipe. Widths are reduced.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Generic, TypeVar

import numpy as np
import torch
from pydantic import BaseModel
from torch import Tensor, nn

from gonie.features.gazetteer import Gazetteers, match_of
from gonie.features.vectors import Vectors
from gonie.tasks.sections import CorpusConfig, CorpusRecipe
from gonie.text.types import Sentence

WORDS: Mapping[str, tuple[str, ...]] = {
    "en": ("Gonie", "sleeps", "in", "Room", "B-12", "at", "7:45", "McRae's", "IBM", "."),
    "ko": ("고니", "는", "방", "12호", "에서", "잔다", "삼성", "IBM", "전자", "."),
}
NEW: Mapping[str, tuple[str, ...]] = {"en": ("Oslo", "rains", "3rd"), "ko": ("서울", "비", "3일")}
"""Words that are not counted, so unknown unless they have a vector."""
WIDEST = {"width": 4, "hidden": 3, "projection": 5}
"""Maximum of the keys with these names. They are unequal, to detect transposed matrices."""
NOISE = 0.2

Batch = Mapping[str, Tensor]
RecipeType = TypeVar("RecipeType", bound=CorpusRecipe)
SectionType = TypeVar("SectionType", bound=BaseModel)
ModelType = TypeVar("ModelType", bound=nn.Module)
EncodingType = TypeVar("EncodingType")


@dataclass(frozen=True)
class SyntheticModel(Generic[ModelType, EncodingType]):
    """An untrained model without zero weights, and a batch of ``examples`` examples for it."""

    model: ModelType
    batch: dict[str, Tensor]
    examples: int
    encoding: EncodingType


def words_of(table: Mapping[str, tuple[str, ...]], data: CorpusConfig) -> tuple[str, ...]:
    """Return the words of the recipe's language, or their syllables."""
    words = table[data.language]
    return tuple(dict.fromkeys("".join(words))) if data.unit == "syllable" else words


def synthetic_vectors(recipe: CorpusRecipe, generator: np.random.Generator) -> Vectors | None:
    """Return vectors for half of the known and new words, if the recipe has vectors."""
    if not recipe.data.vectors:
        return None
    known = list(dict.fromkeys([*words_of(WORDS, recipe.data)[::2], *words_of(NEW, recipe.data)[::2]]))
    width = recipe.model.words.width if recipe.model.words else 1
    matrix = generator.normal(size=(len(known), width)).astype(np.float32)
    return Vectors(words=known, matrix=matrix, path=Path(recipe.data.vectors), format="made up")


def with_external_vectors(
    sentences: Iterable[Sentence], width: int, generator: np.random.Generator
) -> tuple[Sentence, ...]:
    """Return the sentences with an external vector for each word, if the model reads any (width above 0)."""
    if not width:
        return tuple(sentences)
    return tuple(replace(each, vectors=generator.normal(size=(len(each), width))) for each in sentences)


def synthetic_gazetteers(data: CorpusConfig, sentences: Sequence[Sentence]) -> Gazetteers:
    """Return gazetteers under the names in the recipe, with entries of one and two words of the text."""
    entries = [sentence.words[:2] for sentence in sentences]
    names = list(data.gazetteers) or ["list"]
    lists = {name: entries[number:] for number, name in enumerate(names)}
    return Gazetteers(lists=lists, match=match_of(data.language))


def small(recipe: RecipeType) -> RecipeType:
    """Return the recipe with small widths, and without minimum counts."""
    every = {"min_count": 1, "min_feature_count": 1}
    return recipe.model_copy(
        update={"data": recipe.data.model_copy(update=every), "model": _narrowed(recipe.model)}
    )


def _narrowed(section: SectionType) -> SectionType:
    """Return a section, including its subsections, with no width above ``WIDEST``."""
    changes: dict[str, object] = {}
    for name in type(section).model_fields:
        value = getattr(section, name)
        if isinstance(value, BaseModel):
            changes[name] = _narrowed(value)
        elif name in WIDEST and isinstance(value, int):
            changes[name] = min(value, WIDEST[name])
        elif name == "min_count":
            changes[name] = 1
    return section.model_copy(update=changes)


def with_noise(seed: int, build: Callable[[], ModelType]) -> ModelType:
    """Return the model of ``build`` with noise on every weight, because zero weights would hide errors.

    The caller's random generator is not changed.
    """
    with torch.random.fork_rng(devices=[]), torch.no_grad():
        torch.manual_seed(seed)
        model = build()
        for parameter in model.parameters():
            parameter.add_(torch.randn_like(parameter), alpha=NOISE)
        for part in model.modules():
            if isinstance(part, nn.Embedding) and part.padding_idx is not None:
                part.weight[part.padding_idx] = 0.0
    return model
