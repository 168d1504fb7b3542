"""A finished run exported again: with products of bytes, or as training did it, to another folder.

The bundle that training left has all but the graph, which is made anew from the run's best weights and tried
on the run's own dev examples.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

from gonie.export.exporter import Exporter
from gonie.export.graph import Graph
from gonie.export.int8 import Int8Proof, int8_bundle
from gonie.export.proof import MaxDifference
from gonie.runtime.bundle import read_bundle, write_bundle
from gonie.system.files import atomic_write
from gonie.tasks.classification.bundle import TextBundle
from gonie.tasks.classification.torch.exporter import TextExporter
from gonie.tasks.load import bundle_kinds, find_bundle
from gonie.tasks.sections import CorpusRecipe
from gonie.tasks.tagging.torch.exporter import TagExporter
from gonie.tasks.torch.prepare import read_dev
from gonie.tasks.torch.trained import load_trained
from gonie.tasks.torch.word_data import Note

PROVED = 64  # examples on which the scores of an export in floats are compared with its model's


class Exported(NamedTuple):
    """What an export left."""

    size: int
    """Of its files together, in bytes."""
    proof: MaxDifference | Int8Proof


def export_run(
    run: Path, out: Path, *, int8: bool, onnx: Path | None, data: Path | None, note: Note
) -> Exported:
    """Write the model of a run folder to ``out``, proved on its dev examples or on those of ``data``.

    ``onnx`` is a file for the whole model as one graph, where that is wanted too.
    """
    exporter = open_run(run, data, note)
    proof: MaxDifference | Int8Proof
    if int8:
        note(f"comparing it with the one in floats on {len(exporter.examples):,} dev examples")
        bundle, proof = int8_bundle(exporter)
    else:
        bundle = exporter.with_graph(Graph(longest=exporter.longest))
        proof = exporter.prove(bundle, PROVED)
    if onnx is not None:
        note("writing the whole model as one graph")
    whole = exporter.whole() if onnx is not None else b""
    write_bundle(out, bundle)  # nothing is written before all of it is proved
    if onnx is not None:
        atomic_write(onnx, whole)
    return Exported(sum(path.stat().st_size for path in out.iterdir()), proof)


def open_run(run: Path, data: Path | None, note: Note) -> Exporter:
    """The model of a run folder, with examples to try it on."""
    trained = load_trained(run)
    bundle = read_bundle(find_bundle(run), bundle_kinds())
    dev: Sequence[Any] = read_dev(_reading(trained.recipe, data), note)
    model: Any = trained.model
    return (
        TextExporter(model, bundle, dev)
        if isinstance(bundle, TextBundle)
        else TagExporter(model, bundle, dev)
    )


def _reading(recipe: CorpusRecipe, data: Path | None) -> CorpusRecipe:
    """The recipe, with ``data`` in place of its own files where it is given."""
    if data is None:
        return recipe
    files = {"train": str(data), "dev": str(data), "test": None}
    folds = {"folds": 0} if "folds" in type(recipe.data).model_fields else {}
    return recipe.model_copy(update={"data": recipe.data.model_copy(update={**files, **folds})})
