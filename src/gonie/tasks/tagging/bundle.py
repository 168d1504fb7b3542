"""A trained tagger as plain values: what a bundle of the task "tag" holds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np
import safetensors.numpy
from numpy.typing import NDArray

from gonie.features.encoding import Encoding
from gonie.runtime.about import About, of_kind
from gonie.runtime.graphs import Graphs

WEIGHTS = "weights.safetensors"
CHAIN = ("transitions", "start", "end")


@dataclass(frozen=True, kw_only=True)
class TagBundle:
    """``graph`` and ``forms`` are serialised ONNX (``Graphs``); ``transitions`` (K, K), ``start`` (K,) and
    ``end`` (K,) the chain.

    ``gonie.runtime.bundle`` says what each part means on disk.
    """

    task: ClassVar[str] = "tag"
    further: ClassVar[tuple[str, ...]] = (WEIGHTS,)
    """Its files beside the description and the graph."""

    encoding: Encoding
    tokenizer: Mapping[str, Any]
    graph: bytes
    transitions: NDArray[np.float32]
    start: NDArray[np.float32]
    end: NDArray[np.float32]
    forms: bytes | None = None
    constrained: bool = True
    forbidden: Sequence[str] = ()
    about: About = field(default_factory=About)

    def describe(self) -> dict[str, Any]:
        """What the description of a tagger has and that of another bundle has not."""
        return {
            "constrained": self.constrained,
            "forbidden": list(self.forbidden),
            "tokenizer": self.tokenizer,
        }

    def files(self) -> dict[str, bytes]:
        """The content of its further files."""
        chain = {name: np.ascontiguousarray(getattr(self, name), dtype=np.float32) for name in CHAIN}
        return {WEIGHTS: safetensors.numpy.save(chain)}

    @classmethod
    def read(cls, index: Mapping[str, Any], graphs: Graphs, files: Mapping[str, bytes]) -> TagBundle:
        """From a description, graphs and further files; what is wrong with them is raised as it comes."""
        encoding = Encoding.from_json(index["encoding"])
        return cls(
            encoding=encoding,
            tokenizer=of_kind(index, "tokenizer", dict),
            graph=graphs.graph,
            forms=graphs.forms,
            **_chain(files[WEIGHTS], len(encoding.labels)),
            constrained=of_kind(index, "constrained", bool),
            forbidden=index.get("forbidden", []),  # which format 1 does not have
            about=About.read(index),
        )


def _chain(content: bytes, tags: int) -> dict[str, Any]:
    weights = safetensors.numpy.load(content)
    got = {name: weights[name].shape for name in CHAIN}
    if got != {"transitions": (tags, tags), "start": (tags,), "end": (tags,)}:
        raise ValueError(f"{WEIGHTS} has {got}, no chain over {tags} labels")
    if not all(weights[name].dtype == np.float32 and np.isfinite(weights[name]).all() for name in CHAIN):
        raise ValueError(f"{WEIGHTS} has numbers that are not finite float32")
    return {name: weights[name] for name in CHAIN}
