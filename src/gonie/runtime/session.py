"""ONNX Runtime behind the scorer's door: an exported model on the CPU, without torch."""

from __future__ import annotations

from collections.abc import Sequence
from os import PathLike, fspath
from typing import Any

import numpy as np
import onnxruntime
from numpy.typing import NDArray

from gonie.errors import BundleError
from gonie.runtime.scorer import Batch, ScoredTexts

ROWS = ".rows"
ERRORS_ONLY = 3


class OnnxScorer:
    """Scores batches with an exported graph, given as a file or as its bytes.

    The graph declares which arrays of the batch it reads, and only those are handed over. For a feature group
    G it may ask for ``G.rows`` (F,): the flat position of each feature, b * T + t or the number of its text,
    made from ``G.offsets``. A tagger's graph is asked for ``scores``, a classifier's for ``score_texts``.
    ``threads`` bounds the threads of one call (all cores by default); calls from many threads are safe.
    """

    def __init__(self, model: str | PathLike[str] | bytes, *, threads: int | None = None) -> None:
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = threads or 0
        options.log_severity_level = ERRORS_ONLY
        source = model if isinstance(model, bytes) else fspath(model)
        try:
            self._session = onnxruntime.InferenceSession(source, options, providers=["CPUExecutionProvider"])
        except Exception as error:  # onnxruntime raises many kinds, none of them documented
            name = "the model" if isinstance(source, bytes) else source
            raise BundleError(
                f"expected an ONNX graph that onnxruntime {onnxruntime.__version__} can run, got {name}: "
                f"{_first_line(error)}. Export the model again."
            ) from error
        self.inputs = tuple(given.name for given in self._session.get_inputs())

    def scores(self, batch: Batch) -> NDArray[np.float32]:
        """Emission scores of every tag at every token: (B, T, K)."""
        (scores,) = self._run(batch, ["scores"])
        return scores

    def score_texts(self, batch: Batch) -> ScoredTexts:
        """Scores of every label for every text, and the shares of tokens and sentences."""
        return ScoredTexts(*self._run(batch, ["scores", "word_shares", "sentence_shares"]))

    def _run(self, batch: Batch, results: Sequence[str]) -> list[NDArray[np.float32]]:
        try:
            fed = {name: feed(batch, name) for name in self.inputs}
            found: list[NDArray[np.float32]] = self._session.run(list(results), fed)
        except MemoryError:
            raise
        except Exception as error:  # a graph that asks for other arrays, or for ids it has no rows for
            raise BundleError(
                f"expected a graph that fits its bundle's encoding, got {type(error).__name__}: "
                f"{_first_line(error)}. Export the model again."
            ) from error
        return found


def feed(batch: Batch, name: str) -> NDArray[Any]:
    """The array that the graph calls ``name``: the batch's own, or the positions of a group's features."""
    if name.endswith(ROWS):
        counts = np.diff(batch[name.removesuffix(ROWS) + ".offsets"])  # (B * T,)
        return np.repeat(np.arange(len(counts), dtype=np.int64), counts)  # (F,)
    return batch[name]


def _first_line(error: Exception) -> str:
    return (str(error).strip().splitlines() or [type(error).__name__])[0]
