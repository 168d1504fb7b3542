"""Exports a finished run again, to another folder or quantised to int8.

The graph is built from the best checkpoint of the run and verified on its dev examples. Everything else is
copied from the run's bundle.
"""

from __future__ import annotations

from pathlib import Path

from gonie.errors import InputError, OutputError
from gonie.export.driver import Exported, export_model
from gonie.export.exportable import Exportable
from gonie.runtime.bundle import INDEX, read_bundle
from gonie.tasks.external import RecipeVectors
from gonie.tasks.load import bundle_kinds, find_bundle, refuse_in_context
from gonie.tasks.sections import CorpusRecipe
from gonie.tasks.torch.example_task import example_task
from gonie.tasks.torch.prepare import read_dev
from gonie.tasks.torch.trained import load_trained
from gonie.tasks.torch.word_data import Note


def export_run(
    run: Path, out: Path, *, int8: bool, onnx: Path | None, data: Path | None, note: Note
) -> Exported:
    """Export the model of a run folder to ``out``, verified on its dev examples or on those of ``data``.

    ``onnx`` is an optional file for the whole model as one graph. A folder with a bundle is refused.
    """
    if (out / INDEX).exists():
        raise OutputError(f"{out} already contains a bundle. Remove the folder, or choose another --out.")
    return export_model(open_run(run, data, note), out, int8=int8, onnx=onnx, note=note)


def open_run(run: Path, data: Path | None, note: Note) -> Exportable:
    """Load the model of a run folder, with examples to verify its export on."""
    refuse_in_context(run)
    trained = load_trained(run)
    bundle = read_bundle(find_bundle(run), bundle_kinds())
    examples = read_dev(_with_data(trained.recipe, data), note)
    return example_task(bundle.task).exportable(trained.model, bundle, examples)


def _with_data(recipe: CorpusRecipe, data: Path | None) -> CorpusRecipe:
    """Return the recipe, reading ``data`` instead of its own files if given."""
    if data is None:
        return recipe
    if RecipeVectors(recipe):
        raise InputError(
            "--data has no external vectors, which the model reads",
            fix="Leave --data out, and the export is verified on the dev data of the run",
        )
    files = {"train": str(data), "dev": str(data), "test": None, "leave_out": None}
    folds = {"folds": 0} if "folds" in type(recipe.data).model_fields else {}
    return recipe.model_copy(update={"data": recipe.data.model_copy(update={**files, **folds})})
