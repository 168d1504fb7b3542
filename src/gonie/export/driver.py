"""From a trained model to a bundle on disk, whatever its task: written, proved equal to the model, then kept.

Training ends with it, and ``gonie export`` repeats it. Nothing is written before all of it is proved.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

from gonie.export.exportable import Exportable
from gonie.export.graph import Graph
from gonie.export.int8 import Int8Proof, int8_bundle
from gonie.export.proof import MaxDifference, prove
from gonie.export.standalone_onnx import prove_standalone
from gonie.runtime.bundle import Contents, write_bundle
from gonie.system.files import atomic_write

PROVED = 64  # examples on which an export is compared with its model


class Exported(NamedTuple):
    """What an export left."""

    task: str
    size: int
    """Of the files of the bundle together, in bytes."""
    difference: MaxDifference
    """How far the bundle in floats is from the trained model."""
    int8: Int8Proof | None
    """How a bundle in bytes compares with the one in floats, where it was asked for."""


def export_model(
    exportable: Exportable,
    folder: Path,
    *,
    int8: bool = False,
    onnx: Path | None = None,
    note: Callable[[str], None] = lambda text: None,
) -> Exported:
    """Write ``exportable`` as a bundle to ``folder``, in bytes if ``int8`` says so.

    ``onnx`` is a file for the whole model as one graph, where that is wanted too. ``note`` is told what takes
    time.
    """
    bundle = float_bundle(exportable)
    difference = prove(
        exportable.trained,
        exportable.shipped(bundle),
        exportable.batches(PROVED),
        jumping=exportable.jumping,
    )
    whole, proof = b"", None
    if onnx is not None:
        note("writing the whole model as one graph")
        standalone = exportable.standalone(bundle)
        prove_standalone(standalone, exportable.batches(PROVED))
        whole = standalone.graph
    if int8:
        note(f"comparing it with the one in floats on {len(exportable.examples):,} dev examples")
        bundle, proof = int8_bundle(exportable, bundle)
    write_bundle(folder, bundle)
    if onnx is not None:
        atomic_write(onnx, whole)
    size = sum(path.stat().st_size for path in folder.iterdir())
    return Exported(bundle.task, size, difference, proof)


def float_bundle(exportable: Exportable) -> Contents:
    """The bundle of a model as it was trained."""
    graphs = exportable.write(Graph(longest=exportable.longest))
    return replace(exportable.bundle, **graphs._asdict())
