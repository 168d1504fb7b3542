"""The proof that a whole graph answers as its bundle does."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
import onnxruntime
from numpy.typing import NDArray

from gonie.errors import GonieError
from gonie.features.byte_spelling import MARKS
from gonie.runtime.scorer import Batch
from gonie.runtime.session import feed

Array = NDArray[Any]
SAMPLES = 64  # examples on which both are asked
TOLERANCE = 1e-4  # of a probability


class Whole:
    """A whole graph that is ready to be asked."""

    def __init__(self, graph: bytes) -> None:
        self._session = onnxruntime.InferenceSession(graph, providers=["CPUExecutionProvider"])

    def ask(self, batch: Batch, result: str) -> Array:
        """What it gives for a batch as gonie collates it, under the name ``result``."""
        fed = {given.name: feed(batch, given.name) for given in self._session.get_inputs()}
        if "bytes" in fed:
            fed["bytes"] = fed["bytes"][MARKS:]  # the marks of a sentence's ends are in the graph
        (found,) = self._session.run([result], fed)
        return np.asarray(found)


def prove_whole(
    graph: bytes, batches: Iterable[Batch], result: str, answer: Callable[[Batch], Array]
) -> None:
    """Compare what ``graph`` gives under ``result`` with the bundle's own ``answer``; refuse a difference."""
    whole = Whole(graph)
    for batch in batches:
        wanted, got = answer(batch), whole.ask(batch, result)
        if got.shape != wanted.shape or not np.allclose(got, wanted, atol=TOLERANCE):
            raise GonieError(
                f"expected the whole graph to give the bundle's {result}, got others. It was not written; "
                "please report this model."
            )
