"""Export of a trained model of any task to a bundle on disk.

Training ends with an export, and ``gonie export`` repeats it. Nothing is written until the exported model is
proved equal to the trained one.
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
    """The result of an export."""

    task: str
    size: int
    """The total size of the bundle's files, in bytes."""
    difference: MaxDifference
    """The largest difference between the float bundle and the trained model."""
    int8: Int8Proof | None
    """The comparison of the int8 bundle with the float bundle; None for a float export."""


def export_model(
    exportable: Exportable,
    folder: Path,
    *,
    int8: bool = False,
    onnx: Path | None = None,
    note: Callable[[str], None] = lambda text: None,
) -> Exported:
    """Write ``exportable`` as a bundle to ``folder``, with int8 weights if ``int8`` is set.

    If ``onnx`` is given, the standalone graph is written to that file. ``note`` receives progress notes.
    """
    bundle = float_bundle(exportable)
    difference = prove(
        exportable.trained,
        exportable.shipped(bundle),
        exportable.batches(PROVED),
        discontinuous=exportable.discontinuous,
    )
    whole, proof = b"", None
    if onnx is not None:
        note("writing the standalone ONNX graph")
        standalone = exportable.standalone(bundle)
        prove_standalone(standalone, exportable.batches(PROVED))
        whole = standalone.graph
    if int8:
        note(f"comparing the int8 bundle with the float one on {len(exportable.examples):,} dev examples")
        bundle, proof = int8_bundle(exportable, bundle, note)
    write_bundle(folder, bundle)
    if onnx is not None:
        atomic_write(onnx, whole)
    size = sum(path.stat().st_size for path in folder.iterdir())
    return Exported(bundle.task, size, difference, proof)


def float_bundle(exportable: Exportable) -> Contents:
    """Return the bundle of a model with float weights."""
    graphs = exportable.write(Graph(longest=exportable.longest))
    return replace(exportable.bundle, **graphs._asdict())
