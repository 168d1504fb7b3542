"""ONNX Runtime behind the scorer's door: an exported model on the CPU, without torch."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from os import PathLike, fspath
from pathlib import Path
from typing import Any

import numpy as np
import onnxruntime
from numpy.typing import NDArray

from gonie.errors import BundleError
from gonie.runtime.forms import SPELLED, FormScorer
from gonie.runtime.graph_check import check_graph
from gonie.runtime.scorer import Batch, ScoredTexts
from gonie.system.thread_map import cores

ROWS = ".rows"
FATAL = 4  # what is less is raised, and told once


class OnnxScorer:
    """Scores batches with an exported graph, given as a file or as its bytes.

    The graph declares which arrays of the batch it reads, and only those are handed over. For a feature group
    G it may ask for ``G.rows`` (F,): the flat position of each feature, b * T + t or the number of its text,
    made from ``G.offsets``. Where there is a graph of ``forms`` (``gonie.runtime.bundle``), it is asked once
    for each form of a word, and what it says is remembered (``gonie.runtime.form_memory``). A graph
    that scores tokens is asked by ``scores``, one that scores texts by ``score_texts``; what it gives is
    checked, ``labels`` scores for each token or text, if that is known. Any other is asked by ``outputs``.
    ``threads`` (all cores by default) each take a batch, or share each of them, which is worth it for large
    graphs only; calls from many threads are safe. ``gonie.runtime.graph_check`` says what a graph may hold.
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
        self._forms = None if forms is None else FormScorer(_session(forms, each, waits_idly=True))
        own = tuple(given.name for given in self._session.get_inputs())
        read = self._forms.inputs if self._forms else ()
        self.inputs = tuple(dict.fromkeys((*read, *(name for name in own if name != SPELLED))))
        """What is read of a batch."""
        self._own = own

    def scores(self, batch: Batch) -> NDArray[np.float32]:
        """Emission scores of every tag at every token: (B, T, K)."""
        (scores,) = self.outputs(batch, ["scores"])
        check_shape(scores, (*batch["mask"].shape, self._labels))
        return scores

    def score_texts(self, batch: Batch) -> ScoredTexts:
        """Scores of every label for every text, and the shares of tokens and sentences."""
        found = ScoredTexts(*self.outputs(batch, ["scores", "word_shares", "sentence_shares"]))
        check_shape(found.scores, (len(batch["places"]), self._labels))
        check_shape(found.words, batch["mask"].shape)
        check_shape(found.sentences, batch["places"].shape)
        if not np.isfinite(found.scores).all():
            raise BundleError(
                "expected finite scores for every text, got nan or infinity from the model. "
                "Train again with a lower learning rate or clipped gradients."
            )
        return found

    def outputs(self, batch: Batch, names: list[str]) -> list[NDArray[np.float32]]:
        """What the graph gives under these names; its shapes are the caller's to check (``check_shape``)."""
        with _fitting():
            fed = {name: self._feed(batch, name) for name in self._own}
            found: list[NDArray[np.float32]] = self._session.run(names, fed)
            return found

    def _feed(self, batch: Batch, name: str) -> NDArray[Any]:
        return self._forms(batch) if name == SPELLED and self._forms else feed(batch, name)


@contextmanager
def _fitting() -> Iterator[None]:
    """A graph that asks for other arrays, or for ids it has no rows for, is one of another bundle."""
    try:
        yield
    except MemoryError:
        raise
    except Exception as error:  # onnxruntime raises many kinds
        raise BundleError(
            f"expected a graph that fits its bundle's encoding, got {type(error).__name__}: "
            f"{_first_line(error)}. Export the model again."
        ) from error


def check_shape(found: object, shape: tuple[int | None, ...]) -> None:
    """Refuse what is not float32 of the shape (None: any size) that everything after it counts on."""
    got = found.shape if isinstance(found, np.ndarray) and found.dtype == np.float32 else ()
    if len(got) != len(shape) or any(b not in (None, a) for a, b in zip(got, shape, strict=True)):
        raise BundleError(
            f"expected a graph that gives float32 of the shape {shape}, got {got or type(found).__name__}. "
            "Export the model again."
        )


def _session(
    model: str | PathLike[str] | bytes, threads: int, *, waits_idly: bool = False
) -> onnxruntime.InferenceSession:
    """A session on the CPU, which prints nothing and falls back on nothing.

    With ``waits_idly`` its threads sleep between calls: spinning they would take a core from another's.
    """
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    options.log_severity_level = FATAL
    if waits_idly:
        options.add_session_config_entry("session.intra_op.allow_spinning", "0")
    name = "the model" if isinstance(model, bytes) else fspath(model)
    try:
        content = model if isinstance(model, bytes) else Path(model).read_bytes()
        check_graph(content)
        return onnxruntime.InferenceSession(
            content, options, providers=["CPUExecutionProvider"], enable_fallback=0
        )
    except Exception as error:  # onnxruntime raises many kinds, none of them documented
        raise BundleError(
            f"expected an ONNX graph that gonie wrote and onnxruntime {onnxruntime.__version__} can run, got "
            f"{name}: {_first_line(error)}. Export the model again."
        ) from error


def feed(batch: Batch, name: str) -> NDArray[Any]:
    """The array that the graph calls ``name``: the batch's own, or the positions of a group's features."""
    if name.endswith(ROWS):
        counts = np.diff(batch[name.removesuffix(ROWS) + ".offsets"])  # (B * T,)
        return np.repeat(np.arange(len(counts), dtype=np.int64), counts)  # (F,)
    return batch[name]


def _first_line(error: Exception) -> str:
    return (str(error).strip().splitlines() or [type(error).__name__])[0]
