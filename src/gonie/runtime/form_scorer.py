"""Run the graph of forms, which computes vectors of words from their characters, with a cache."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from gonie.errors import BundleError
from gonie.features.byte_spelling import MARKS
from gonie.runtime.form_cache import FormCache, keys_of
from gonie.runtime.onnx_runtime import onnxruntime
from gonie.runtime.scorer import Batch

SPELLED = "spelled"
FEW = 64  # forms per call of the graph
WIDEST = 1 << 16  # maximum width of a form vector


class FormScorer:
    """Return the vectors of the forms of a batch, from the graph or from the cache."""

    def __init__(self, session: onnxruntime.InferenceSession) -> None:
        self._session = session
        self._cache = FormCache(_width(session))
        self.inputs = tuple(given.name for given in session.get_inputs())

    def __call__(self, batch: Batch) -> NDArray[np.float32]:
        """Return the vectors of the forms of a batch: (U, F)."""
        seen = {name: batch[name][MARKS if name == "bytes" else 0 :] for name in self.inputs}
        lengths = batch["char_lengths"] if "chars" in seen else np.zeros(0, dtype=np.int64)

        def compute(places: NDArray[np.int64]) -> NDArray[np.float32]:
            if len(places) <= FEW:
                return run(places)
            found = np.empty((len(places), self._cache.width), dtype=np.float32)
            order = np.argsort(lengths[places]) if len(lengths) else np.arange(len(places))
            for some in np.split(order, range(FEW, len(order), FEW)):  # similar lengths need little padding
                found[some] = run(places[some])
            return found

        def run(places: NDArray[np.int64]) -> NDArray[np.float32]:
            fed = {name: array[places] for name, array in seen.items()}
            if len(lengths):
                fed["chars"] = fed["chars"][:, : lengths[places].max()]
            (spelled,) = self._session.run([SPELLED], fed)
            found: NDArray[np.float32] = spelled
            return found

        return self._cache.look_up(self._keys(seen, lengths.tolist()), compute)

    def _keys(self, seen: Batch, lengths: list[int]) -> list[bytes]:
        parts = []
        if "chars" in seen:
            parts.append(keys_of(seen["chars"], lengths))
        if "bytes" in seen:
            longest = seen["bytes"].shape[1]
            parts.append(keys_of(seen["bytes"], [longest] * len(seen["bytes"])))
        return parts[0] if len(parts) == 1 else [b"".join(both) for both in zip(*parts, strict=True)]


def _width(session: onnxruntime.InferenceSession) -> int:
    """Return F of the one output (U, F) of a graph of forms."""
    (given,) = session.get_outputs()
    width = given.shape[1] if len(given.shape) == 2 else None
    if not isinstance(width, int) or not 0 < width <= WIDEST:
        raise BundleError(
            f"expected an output of shape ('U', F) from the graph of forms, with F from 1 to {WIDEST:,}, got "
            f"{given.shape}. Export the model again"
        )
    return width
