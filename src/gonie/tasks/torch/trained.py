"""A run's best weights back in torch: for whoever needs more of a model than its answers.

What a run folder has is enough; the files that it was trained on, and its word vectors', need not be there.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch
from torch import Tensor

from gonie.errors import BundleError, InputError
from gonie.features.encoding import Encoding
from gonie.features.text_encoding import TextEncoding
from gonie.features.vectors import Coverage, PretrainedVectors
from gonie.nn.bilm.bilm import BiLM
from gonie.tasks.classification.torch.build import build_classifier
from gonie.tasks.language_model.torch.build import build_bilm
from gonie.tasks.language_model.torch.folder import read_index, read_shape
from gonie.tasks.recipe import load_recipe
from gonie.tasks.sections import CorpusRecipe
from gonie.tasks.torch.checkpoint import load_weights, read_tensors
from gonie.tasks.torch.model import Model
from gonie.tasks.torch.parts import build

RECIPE, ENCODING, BEST = "recipe.toml", "encoding.json", "best.safetensors"
"""What a run folder calls its recipe as resolved, its encoding, and the weights of its best epoch."""


class Trained(NamedTuple):
    """What a run has come to."""

    recipe: CorpusRecipe
    encoding: Encoding | TextEncoding
    model: Model


class Task(NamedTuple):
    """How what a run of a task has saved becomes a model again."""

    encoding: Callable[[Mapping[str, Any]], Any]
    """From ``encoding.json``."""
    build: Callable[[Any, Any, PretrainedVectors | None, BiLM | None], Model]
    """From the ``model`` section of the recipe, the encoding, vectors for its words, and a language model."""


TASKS: Mapping[str, Task] = {
    "tag": Task(
        Encoding.from_json,
        lambda config, encoding, vectors, bilm: build(config, encoding, vectors, bilm=bilm),
    ),
    "classify": Task(
        TextEncoding.from_json,
        lambda config, encoding, vectors, bilm: build_classifier(config, encoding, vectors, bilm=bilm),
    ),
}
"""By the ``task`` of a recipe."""


def load_trained(folder: Path) -> Trained:
    """The model of a run folder with its best weights, on the CPU, ready to be used."""
    need_run(folder)
    recipe = load_recipe(folder / RECIPE)
    task = TASKS[recipe.task]
    encoding = _read_encoding(folder / ENCODING, task)
    tensors, _ = read_tensors(folder / BEST)
    bilm = build_bilm(read_shape(folder, read_index(folder))) if recipe.model.elmo else None
    model = task.build(recipe.model, encoding, _pretrained(tensors), bilm)
    load_weights(folder / BEST, model)
    return Trained(recipe, encoding, model.eval())


def need_run(folder: Path) -> None:
    """Refuse a folder that no training has left."""
    if lacking := [name for name in (RECIPE, ENCODING, BEST) if not (folder / name).is_file()]:
        raise InputError(
            path=folder,
            expected="the folder of a training run",
            got=f"one without {', '.join(lacking)}",
            fix="Name a folder that `gonie train` has left",
        )


def _read_encoding(path: Path, task: Task) -> Any:
    try:
        return task.encoding(json.loads(path.read_bytes()))
    except (ValueError, KeyError, TypeError) as error:
        raise BundleError(
            f"{path}: expected an encoding, got a damaged file ({type(error).__name__}: {error}). "
            "Train it again."
        ) from error


def _pretrained(tensors: Mapping[str, Tensor]) -> PretrainedVectors | None:
    """The vectors that words began with, as they are now: how many are learned decides a model's shape."""
    name = next((name for name in tensors if name.rpartition(".")[2] == "rows"), None)
    if name is None:
        return None
    part = name.removesuffix("rows")
    rows, learned, fixed = tensors[name], tensors[f"{part}weight"], tensors.get(f"{part}fixed")
    table = learned if fixed is None else torch.cat([learned, fixed])
    found: np.ndarray[Any, np.dtype[np.bool_]] = (rows >= len(learned)).numpy()
    return PretrainedVectors(table[rows].float().numpy(), found, Coverage(types={}, tokens={}))
