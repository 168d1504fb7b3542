"""A run's best weights back in torch: for explanations by gradients, further exports and word vectors.

The run folder is enough; the files that it was trained on, and its word vectors, need not be there.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

from torch import Tensor, nn

from gonie.errors import BundleError, InputError
from gonie.tasks.recipe import load_recipe
from gonie.tasks.run_files import ENCODING, NETWORK
from gonie.tasks.sections import CorpusRecipe
from gonie.tasks.torch.build import WordTable
from gonie.tasks.torch.checkpoint import load_weights, read_tensors
from gonie.tasks.torch.contextual import restore_sources
from gonie.tasks.torch.prepare import example_task

RECIPE, BEST = "recipe.toml", "best.safetensors"


class Trained(NamedTuple):
    """What a run has learned."""

    recipe: CorpusRecipe
    encoding: Any
    model: nn.Module


def load_trained(folder: Path) -> Trained:
    """The network of a run folder with its best weights, on the CPU, in evaluation mode."""
    need_run(folder)
    recipe: CorpusRecipe = load_recipe(folder / RECIPE)
    task = example_task(recipe.task)
    encoding = _read(folder / ENCODING, task.read_encoding)
    words = read_word_table(folder, recipe)
    model = task.build(recipe, encoding, words, restore_sources(recipe.model, folder))
    load_weights(folder / BEST, model)
    return Trained(recipe, encoding, model.eval())


def need_run(folder: Path) -> None:
    """Refuse a folder that training has not left."""
    if lacking := [name for name in (RECIPE, ENCODING, BEST) if not (folder / name).is_file()]:
        raise InputError(
            f"expected the folder of a training run, got one without {', '.join(lacking)}",
            path=folder,
            fix="Name a folder that `gonie train` has left",
        )


def read_word_table(folder: Path, recipe: CorpusRecipe) -> WordTable | None:
    """How the word vectors of a run are laid out, as ``network.json`` says."""
    if recipe.model.words is None:
        return None
    if (folder / NETWORK).is_file():
        table: WordTable = _read(folder / NETWORK, lambda saved: WordTable.from_json(saved["words"]))
        return table
    return _word_table_of_0_1(read_tensors(folder / BEST)[0])


def _word_table_of_0_1(tensors: Mapping[str, Tensor]) -> WordTable | None:
    """Runs of gonie 0.1 have no ``network.json``: pretrained vectors show by the tensor ``rows``."""
    name = next((name for name in tensors if name.endswith("rows")), None)
    if name is None:
        return None
    part = name.removesuffix("rows")
    learned, fixed = tensors[f"{part}weight"], tensors.get(f"{part}fixed")
    return WordTable.from_json(
        {
            "size": len(learned),
            "fixed": 0 if fixed is None else len(fixed),
            "width": learned.shape[1],
            "reordered": True,
        }
    )


def _read(path: Path, make: Any) -> Any:
    try:
        return make(json.loads(path.read_bytes()))
    except (ValueError, KeyError, TypeError) as error:
        raise BundleError(
            f"{path}: damaged file ({type(error).__name__}: {error}). Train the model again."
        ) from error
