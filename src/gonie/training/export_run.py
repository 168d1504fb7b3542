"""A finished run exported again: with products of bytes, or as training did it, to another folder.

The bundle that training left has all but the graph, which is made anew from the run's best weights and tried
on the run's own dev examples.
"""

from __future__ import annotations

from pathlib import Path

from gonie.export.driver import Exported, export_model
from gonie.export.exportable import Exportable
from gonie.runtime.bundle import read_bundle
from gonie.tasks.load import bundle_kinds, find_bundle
from gonie.tasks.sections import CorpusRecipe
from gonie.tasks.torch.prepare import example_task, read_dev
from gonie.tasks.torch.trained import load_trained
from gonie.tasks.torch.word_data import Note


def export_run(
    run: Path, out: Path, *, int8: bool, onnx: Path | None, data: Path | None, note: Note
) -> Exported:
    """Write the model of a run folder to ``out``, proved on its dev examples or on those of ``data``.

    ``onnx`` is a file for the whole model as one graph, where that is wanted too.
    """
    return export_model(open_run(run, data, note), out, int8=int8, onnx=onnx, note=note)


def open_run(run: Path, data: Path | None, note: Note) -> Exportable:
    """The model of a run folder, with examples to try it on."""
    trained = load_trained(run)
    bundle = read_bundle(find_bundle(run), bundle_kinds())
    examples = read_dev(_reading(trained.recipe, data), note)
    return example_task(bundle.task).exportable(trained.model, bundle, examples)


def _reading(recipe: CorpusRecipe, data: Path | None) -> CorpusRecipe:
    """The recipe, with ``data`` in place of its own files where it is given."""
    if data is None:
        return recipe
    files = {"train": str(data), "dev": str(data), "test": None}
    folds = {"folds": 0} if "folds" in type(recipe.data).model_fields else {}
    return recipe.model_copy(update={"data": recipe.data.model_copy(update={**files, **folds})})
