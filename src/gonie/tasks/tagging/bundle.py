"""A trained tagger as plain values: what a bundle of the task "tag" holds.

Its description has, beside what every bundle has (``gonie.runtime.bundle``),

    constrained whether decoding keeps to sequences that the tag scheme allows
    forbidden   moves that decoding never makes, as ``gonie.text.rules`` reads them
    tokenizer   how raw text becomes tokens, as ``gonie.text.tokenizers`` writes it

and its ``encoding`` is as ``gonie.features.encoding`` writes it. ``model.onnx`` is a graph from the arrays of
``gonie.features.batching`` to ``scores`` (B, T, K), with a column for each label in order. The chain is in
``weights.safetensors``: ``transitions`` (K, K) indexed [from, to], ``start`` (K,), ``end`` (K,), float32;
zeros for a softmax model.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np
import safetensors.numpy
from numpy.typing import NDArray

from gonie.features.encoding import Encoding
from gonie.runtime.about import About, typed_value
from gonie.runtime.bundle import Graphs
from gonie.runtime.encoding_check import LABELS, TAGS, labels, tokenizer, word_encoding
from gonie.runtime.validators import NAME, either, flag, integer, mapping_of, null, record, text, texts

WEIGHTS = "weights.safetensors"
CHAIN = ("transitions", "start", "end")

_COLUMN = integer(-1000, 1000)
_DATA = record(
    {},
    {
        "types": texts(LABELS, NAME),
        "columns": mapping_of(_COLUMN, 100, NAME),
        "tag_column": either(null, either(text(NAME), _COLUMN)),
    },
)
_DESCRIPTION = record(
    {
        "constrained": flag,
        "tokenizer": tokenizer,
        "encoding": word_encoding,
        "recipe": record({}, {"data": _DATA}),
    },
    {"forbidden": texts(TAGS, NAME)},
)


@dataclass(frozen=True, kw_only=True)
class TagBundle:
    """``graph`` and ``forms`` are serialised ONNX (``Graphs``), which the export adds.

    ``transitions`` (K, K), ``start`` (K,) and ``end`` (K,) are the chain.
    """

    task: ClassVar[str] = "tag"
    further: ClassVar[Mapping[str, int]] = {WEIGHTS: 1 << 27}
    """Its files beside the description and the graphs, and the most bytes that each may have."""

    encoding: Encoding
    tokenizer: Mapping[str, Any]
    transitions: NDArray[np.float32]
    start: NDArray[np.float32]
    end: NDArray[np.float32]
    graph: bytes = b""
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
    def check(cls, index: Mapping[str, Any]) -> None:
        """Refuse a value that no description of a tagger has."""
        _DESCRIPTION(index, "")
        labels(TAGS)(index["encoding"]["labels"], "encoding.labels")

    @classmethod
    def read(cls, index: Mapping[str, Any], graphs: Graphs, files: Mapping[str, bytes]) -> TagBundle:
        """From a description, graphs and further files; what is wrong with them is raised as it comes."""
        encoding = Encoding.from_json(index["encoding"])
        return cls(
            encoding=encoding,
            tokenizer=typed_value(index, "tokenizer", dict),
            graph=graphs.graph,
            forms=graphs.forms,
            **_chain(files[WEIGHTS], len(encoding.labels)),
            constrained=typed_value(index, "constrained", bool),
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
