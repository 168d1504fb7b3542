"""The torch half of language modelling (``gonie.tasks.torch.task``)."""

from __future__ import annotations

from pathlib import Path

from gonie.errors import GonieError
from gonie.tasks.language_model.recipe import PretrainRecipe
from gonie.tasks.language_model.torch.data import read_pretrain_data
from gonie.tasks.language_model.torch.job import LanguageModelJob
from gonie.tasks.language_model.torch.start import start_vocabulary
from gonie.tasks.paths import shadowed_folder
from gonie.tasks.run_files import TOKENISED_TEXT
from gonie.tasks.torch.task import RunContext

__all__ = ["data_key", "prepare"]


def prepare(recipe: PretrainRecipe, context: RunContext) -> LanguageModelJob:
    """Tokenise the text of the recipe into its cache or the run folder, unless it is there already."""
    if recipe.model.start and (shadow := shadowed_folder(recipe.model.start)):
        context.note(f"model.start: {shadow}")
    data = read_pretrain_data(
        recipe,
        _text_folder(recipe, context),
        context.note,
        advance=context.advance,
        vocabulary=start_vocabulary(recipe.model),
    )
    return LanguageModelJob(recipe, data)


def _text_folder(recipe: PretrainRecipe, context: RunContext) -> Path:
    if recipe.data.cache:
        return Path(recipe.data.cache)
    if context.folder is None:
        raise GonieError("no folder for the tokenised text. Use --set data.cache=DIR")
    return context.folder / TOKENISED_TEXT


def data_key(recipe: PretrainRecipe) -> str:
    """Return the part of a recipe that ``prepare`` depends on."""
    model = recipe.model.model_dump_json(include={"longest": True, "start": True, "softmax": {"words"}})
    return recipe.task + recipe.data.model_dump_json() + model
