"""From a trained classifier to a bundle on disk, proved equal to it before it is written."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from os import PathLike
from typing import Any

from gonie.export.graph import Graph
from gonie.export.proof import MaxDifference, prove_texts
from gonie.features.text_encoding import TextEncoding
from gonie.runtime.about import About
from gonie.runtime.bundle import write_bundle
from gonie.runtime.session import OnnxScorer
from gonie.tasks.classification.bundle import TextBundle
from gonie.tasks.classification.torch.exporter import text_batches
from gonie.tasks.classification.torch.graph import text_graph
from gonie.tasks.classification.torch.network import ClassifyingNetwork
from gonie.tasks.tagging.torch.export import summary
from gonie.text.labelled_text import LabelledText


def export_classifier(
    model: ClassifyingNetwork,
    *,
    encoding: TextEncoding,
    folder: str | PathLike[str],
    samples: Sequence[LabelledText],
    temperature: float = 1.0,
    scores: Mapping[str, Any] | None = None,
    recipe: Mapping[str, Any] | None = None,
    layers: Sequence[Mapping[str, Any]] = (),
) -> MaxDifference:
    """Write ``model`` as a bundle to ``folder``; returns how far its ONNX results are from torch's.

    ``samples`` are real texts to prove the export on: a few dozen do. ``temperature`` is what its scores are
    divided by to give calibrated probabilities. ``scores``, ``recipe`` and ``layers``
    (``gonie.runtime.about``) are kept for people. Nothing is written unless the proof holds.
    """
    graphs = text_graph(model, graph=Graph(longest=encoding.words.longest))
    difference = prove_texts(model, OnnxScorer(*graphs), text_batches(encoding, samples))
    about = About(model=summary(model), scores=scores or {}, recipe=recipe or {}, layers=layers)
    bundle = TextBundle(encoding=encoding, **graphs._asdict(), temperature=float(temperature), about=about)
    write_bundle(folder, bundle)
    return difference
