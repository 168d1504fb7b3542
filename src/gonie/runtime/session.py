"""A scorer that runs an exported model with ONNX Runtime on the CPU, without torch."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from os import PathLike, fspath
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gonie.errors import BundleError
from gonie.runtime.form_scorer import SPELLED, FormScorer
from gonie.runtime.graph_check import check_graph
from gonie.runtime.onnx_runtime import onnxruntime
from gonie.runtime.scorer import Batch, ScoredTexts
from gonie.system.thread_map import cores

ROWS = ".rows"
FATAL = 4  # log level; lesser errors are raised as exceptions and need not be logged too


class OnnxScorer:
    """Score batches with an exported graph, given as a file or as bytes.

    The graph declares which arrays of the batch it reads, and only those are passed to it. For a feature
    group G it may declare ``G.rows`` (F,): the flat position of each feature, b * T + t or the index of its
    text, computed from ``G.offsets``. A graph of ``forms`` (``gonie.runtime.bundle``) runs once per distinct
    form, and its results are cached (``gonie.runtime.form_cache``).

    Use ``scores`` for a graph that scores tokens, ``score_texts`` for one that scores texts, and ``outputs``
    for any other. The first two check the shape of the result; ``labels`` is the number of scores per token
    or text, if known. Each of the ``threads`` (all cores by default) takes one batch. With ``shared``, all
    threads work on the same batch, which helps only for large graphs. Calls from several threads are safe.
    ``gonie.runtime.graph_check`` lists what a graph may contain.
    """

    def __init__(
        self,
        model: str | PathLike[str] | bytes,
        forms: bytes | None = None,
        *,
        labels: int | None = None,
        threads: int | None = None,
        shared: bool = False,
    ) -> None:
        self._labels = labels
        threads = threads or cores()
        self.at_once = 1 if shared else threads
        each = threads // self.at_once
        self._session = _session(model, each)
        self._forms = None if forms is None else FormScorer(_session(forms, each, spinning=False))
        own = tuple(given.name for given in self._session.get_inputs())
        read = self._forms.inputs if self._forms else ()
        self.inputs = tuple(dict.fromkeys((*read, *(name for name in own if name != SPELLED))))
        """The arrays of a batch that the graphs read."""
        self._own = own

    def scores(self, batch: Batch) -> NDArray[np.float32]:
        """Return the emission scores of every tag at every token: (B, T, K)."""
        (scores,) = self.outputs(batch, ["scores"])
        check_shape(scores, (*batch["mask"].shape, self._labels))
        return scores

    def score_texts(self, batch: Batch) -> ScoredTexts:
        """Return the scores of every label for every text, and the shares of tokens and sentences."""
        found = ScoredTexts(*self.outputs(batch, ["scores", "word_shares", "sentence_shares"]))
        check_shape(found.scores, (len(batch["places"]), self._labels))
        check_shape(found.words, batch["mask"].shape)
        check_shape(found.sentences, batch["places"].shape)
        if not np.isfinite(found.scores).all():
            raise BundleError(
                "the model returned nan or infinite scores. "
                "Train again with a lower learning rate (train.lr) or stronger gradient clipping (train.clip)"
            )
        return found

    def outputs(self, batch: Batch, names: list[str]) -> list[NDArray[np.float32]]:
        """Return the outputs with these names. The caller checks their shapes (``check_shape``)."""
        with _bundle_errors():
            fed = {name: self._feed(batch, name) for name in self._own}
            found: list[NDArray[np.float32]] = self._session.run(names, fed)
            return found

    def _feed(self, batch: Batch, name: str) -> NDArray[Any]:
        return self._forms(batch) if name == SPELLED and self._forms else feed(batch, name)


@contextmanager
def _bundle_errors() -> Iterator[None]:
    """Convert errors of a graph that needs other arrays or has too few rows for an id to BundleError."""
    try:
        yield
    except MemoryError:
        raise
    except Exception as error:  # onnxruntime raises many types
        raise BundleError(
            f"the graph does not fit the encoding of its bundle: {type(error).__name__}: "
            f"{_first_line(error)}. Export the model again"
        ) from error


def check_shape(found: object, shape: tuple[int | None, ...]) -> None:
    """Raise BundleError unless ``found`` is a float32 array of this shape. None means any size."""
    got = found.shape if isinstance(found, np.ndarray) and found.dtype == np.float32 else ()
    if len(got) != len(shape) or any(b not in (None, a) for a, b in zip(got, shape, strict=True)):
        raise BundleError(
            f"expected float32 of shape {shape} from the graph, got {got or type(found).__name__}. "
            "Export the model again"
        )


def _session(
    model: str | PathLike[str] | bytes, threads: int, *, spinning: bool = True
) -> onnxruntime.InferenceSession:
    """Create a session on the CPU, which prints nothing and uses no fallback.

    Without ``spinning``, its threads sleep between calls and leave their cores to another session.
    """
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    options.log_severity_level = FATAL
    if not spinning:
        options.add_session_config_entry("session.intra_op.allow_spinning", "0")
    name = "the model" if isinstance(model, bytes) else fspath(model)
    try:
        content = model if isinstance(model, bytes) else Path(model).read_bytes()
        check_graph(content)
        return onnxruntime.InferenceSession(
            content, options, providers=["CPUExecutionProvider"], enable_fallback=0
        )
    except Exception as error:  # onnxruntime raises many types, none of them documented
        raise BundleError(
            f"cannot load the ONNX graph of {name} with onnxruntime {onnxruntime.__version__}: "
            f"{_first_line(error)}. Export the model again"
        ) from error


def feed(batch: Batch, name: str) -> NDArray[Any]:
    """Return the input ``name`` of the graph: an array of the batch, or the positions of a feature group."""
    if name.endswith(ROWS):
        counts = np.diff(batch[name.removesuffix(ROWS) + ".offsets"])  # (B * T,)
        return np.repeat(np.arange(len(counts), dtype=np.int64), counts)  # (F,)
    return batch[name]


def _first_line(error: Exception) -> str:
    return (str(error).strip().splitlines() or [type(error).__name__])[0]
