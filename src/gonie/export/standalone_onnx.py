"""A whole model as one graph that ends in answers: for other languages, and devices where gonie does not run.

A bundle has the letters' network apart and decodes in numpy; here both are in the graph, and all that is left
to whoever runs it is to look up ids (docs/guides/onnx.md).
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import onnxruntime

from gonie.errors import GonieError
from gonie.export.exportable import Array, Standalone
from gonie.export.graph import Graph
from gonie.features.byte_spelling import MARKS
from gonie.runtime.scorer import Batch
from gonie.runtime.session import feed

TOLERANCE = 1e-4  # of a probability


class StandaloneGraph(Graph):
    """One graph for all: what depends on forms alone is written into it too."""

    @property
    def forms(self) -> Graph:
        """Itself."""
        return self

    def per_form(self, value: str, width: int) -> str:
        """The value as it is."""
        return value

    def serialize_forms(self) -> None:
        """There is no other graph."""


class StandaloneModel:
    """A standalone graph that is ready to be asked."""

    def __init__(self, graph: bytes) -> None:
        self._session = onnxruntime.InferenceSession(graph, providers=["CPUExecutionProvider"])

    def ask(self, batch: Batch, result: str) -> Array:
        """What it gives for a batch as gonie collates it, under the name ``result``."""
        fed = {given.name: feed(batch, given.name) for given in self._session.get_inputs()}
        if "bytes" in fed:
            fed["bytes"] = fed["bytes"][MARKS:]  # the marks of a sentence's ends are in the graph
        (found,) = self._session.run([result], fed)
        return np.asarray(found)


def prove_standalone(found: Standalone, batches: Iterable[Batch]) -> None:
    """Compare what the graph gives with the bundle's own answers; refuse a difference."""
    model = StandaloneModel(found.graph)
    for batch in batches:
        wanted, got = found.answer(batch), model.ask(batch, found.result)
        if got.shape != wanted.shape or not np.allclose(got, wanted, atol=TOLERANCE):
            raise GonieError(
                f"expected the standalone graph to give the bundle's {found.result}, got others. It was not "
                "written; please report this model."
            )
