"""Load the best weights of a run into a torch network, for gradients, exports and word vectors.

This needs only the run folder, not the training data or the file of word vectors.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

from torch import Tensor, nn

from gonie.errors import BundleError, InputError, RecipeError
from gonie.tasks.lineage import earlier_runs
from gonie.tasks.recipe import load_recipe
from gonie.tasks.run_files import BEST, ENCODING, NETWORK, RECIPE
from gonie.tasks.sections import CorpusRecipe
from gonie.tasks.torch.build import WordTable
from gonie.tasks.torch.checkpoint import load_weights, read_tensors
from gonie.tasks.torch.contextual import restore_sources
from gonie.tasks.torch.example_task import example_task
from gonie.tasks.torch.start import Start


class Trained(NamedTuple):
    """The trained network of a run."""

    recipe: CorpusRecipe
    encoding: Any
    model: nn.Module


def load_trained(folder: Path) -> Trained:
    """Load the network of a run folder with its best weights, on the CPU, in evaluation mode."""
    need_run(folder)
    recipe: CorpusRecipe = load_recipe(folder / RECIPE)
    task = example_task(recipe.task)
    encoding = _read(folder / ENCODING, task.read_encoding)
    words = read_word_table(folder, recipe)
    model = task.build(recipe, encoding, words, restore_sources(recipe.model, folder))
    load_weights(folder / BEST, model)
    return Trained(recipe, encoding, model.eval())


def load_start(recipe: CorpusRecipe) -> Start | None:
    """Load the model that the recipe starts from, if it names one. It must be a model of the same task."""
    name = recipe.train.start
    if name is None:
        return None
    folder = Path(name)
    try:
        trained = load_trained(folder)
    except (InputError, BundleError) as error:
        raise RecipeError([f"train.start: {error}"]) from error
    if trained.recipe.task != recipe.task:
        raise RecipeError(
            [f"train.start: {name} is a model of the task {trained.recipe.task!r}, not {recipe.task!r}"]
        )
    digest = hashlib.sha256((folder / BEST).read_bytes()).hexdigest()
    return Start(
        folder=folder,
        recipe=trained.recipe,
        encoding=trained.encoding,
        model=trained.model,
        digest=digest,
        adapted=recipe.model.adapter is not None,
        earlier=tuple(earlier_runs(trained.recipe.train.start)),
    )


def need_run(folder: Path) -> None:
    """Raise an error unless the folder is a training run."""
    if not folder.exists():
        raise InputError("folder not found", path=folder, fix="Pass a folder that `gonie train` wrote")
    if lacking := [name for name in (RECIPE, ENCODING, BEST) if not (folder / name).is_file()]:
        raise InputError(
            f"not a training run: {', '.join(lacking)} not found",
            path=folder,
            fix="Pass a folder that `gonie train` wrote",
        )


def read_word_table(folder: Path, recipe: CorpusRecipe) -> WordTable | None:
    """Read the layout of the word vectors of a run from ``network.json``."""
    if recipe.model.words is None:
        return None
    if (folder / NETWORK).is_file():
        table: WordTable = _read(folder / NETWORK, lambda saved: WordTable.from_json(saved["words"]))
        return table
    return _word_table_of_0_1(read_tensors(folder / BEST)[0])


def _word_table_of_0_1(tensors: Mapping[str, Tensor]) -> WordTable | None:
    """Return the layout of a run of gonie 0.1, which has no ``network.json``, from its tensors."""
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
