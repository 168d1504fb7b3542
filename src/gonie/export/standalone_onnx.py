"""A whole model as one ONNX graph with decoding, for other languages and for devices without gonie.

A bundle runs the character network separately and decodes in numpy. Here both are in the graph, and the
caller only looks up ids (docs/guides/onnx.md).
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from gonie.errors import GonieError
from gonie.export.exportable import Array, Standalone
from gonie.export.graph import Graph
from gonie.features.byte_spelling import MARKS
from gonie.runtime.onnx_runtime import onnxruntime
from gonie.runtime.scorer import Batch
from gonie.runtime.session import feed

TOLERANCE = 1e-4  # of a probability


class StandaloneGraph(Graph):
    """A graph that also contains the values that depend only on the form of a word."""

    @property
    def forms(self) -> Graph:
        """This graph."""
        return self

    def per_form(self, value: str, width: int) -> str:
        """Return the value unchanged."""
        return value

    def serialize_forms(self) -> None:
        """Return None, because there is no second graph."""


class StandaloneModel:
    """Runs a standalone graph."""

    def __init__(self, graph: bytes) -> None:
        self._session = onnxruntime.InferenceSession(graph, providers=["CPUExecutionProvider"])

    def run(self, batch: Batch, result: str) -> Array:
        """Return the output ``result`` for a batch collated by gonie."""
        fed = {given.name: feed(batch, given.name) for given in self._session.get_inputs()}
        if "bytes" in fed:
            fed["bytes"] = fed["bytes"][MARKS:]  # the graph contains the marks of the sentence ends
        (found,) = self._session.run([result], fed)
        return np.asarray(found)


def prove_standalone(found: Standalone, batches: Iterable[Batch]) -> None:
    """Compare the predictions of the graph and the bundle. Raise an error if they differ."""
    model = StandaloneModel(found.graph)
    for batch in batches:
        wanted, got = found.answer(batch), model.run(batch, found.result)
        if got.shape != wanted.shape or not np.allclose(got, wanted, atol=TOLERANCE):
            raise GonieError(
                f"the {found.result} of the standalone graph differ from the bundle's. It was not written. "
                "Please report this model."
            )
