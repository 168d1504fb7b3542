"""The contents of a bundle of the task "tag": a trained tagger as plain values.

Besides the keys of every bundle (``gonie.runtime.bundle``), its description has

    constrained whether decoding allows only valid sequences of the tag scheme
    forbidden   forbidden transitions, in the format of ``gonie.text.rules``
    given_scheme  the tag scheme of the training file; optional
    temperature above 0: all scores are divided by it before they become probabilities; 1 if missing
    tokenizer   the tokenizer of raw text, in the format of ``gonie.text.tokenizers``

``encoding`` is written by ``gonie.features.encoding``. ``model.onnx`` is a graph from the arrays of
``gonie.features.batching`` to ``scores`` (B, T, K), with one column per label in order. The chain is in
``weights.safetensors``: ``transitions`` (K, K) indexed [from, to], ``start`` (K,), ``end`` (K,), float32;
zeros for a softmax model.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np
import safetensors.numpy
from numpy.typing import NDArray

from gonie.features.encoding import Encoding
from gonie.runtime.about import About, typed_value
from gonie.runtime.bundle import Graphs
from gonie.runtime.encoding_check import LABELS, TAGS, labels, tag_scheme, tokenizer, word_encoding
from gonie.runtime.validators import (
    NAME,
    either,
    flag,
    integer,
    mapping_of,
    null,
    number,
    record,
    text,
    texts,
)
from gonie.text.schemes import Scheme

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
    {"forbidden": texts(TAGS, NAME), "given_scheme": tag_scheme, "temperature": number},
)


@dataclass(frozen=True, kw_only=True)
class TagBundle:
    """The contents of a tagger's bundle.

    ``graph`` and ``forms`` are serialised ONNX (``Graphs``), added by the export. ``transitions`` (K, K),
    ``start`` (K,) and ``end`` (K,) are the chain. ``given_scheme`` is the tag scheme of the training file, in
    which documents are tagged. It is unknown in bundles of gonie 0.1. Emissions and chain, divided by the
    ``temperature``, give calibrated probabilities.
    """

    task: ClassVar[str] = "tag"
    further: ClassVar[Mapping[str, int]] = {WEIGHTS: 1 << 27}
    """Additional files, with the maximum size of each in bytes."""

    encoding: Encoding
    tokenizer: Mapping[str, Any]
    transitions: NDArray[np.float32]
    start: NDArray[np.float32]
    end: NDArray[np.float32]
    graph: bytes = b""
    forms: bytes | None = None
    constrained: bool = True
    forbidden: Sequence[str] = ()
    given_scheme: Scheme | None = None
    temperature: float = 1.0
    about: About = field(default_factory=About)

    def describe(self) -> dict[str, Any]:
        """Return the keys of the description that only taggers have."""
        return {
            "constrained": self.constrained,
            "forbidden": list(self.forbidden),
            "tokenizer": self.tokenizer,
            "temperature": self.temperature,
            **({} if self.given_scheme is None else {"given_scheme": self.given_scheme.to_json()}),
        }

    def files(self) -> dict[str, bytes]:
        """Return the content of the additional files."""
        chain = {name: np.ascontiguousarray(getattr(self, name), dtype=np.float32) for name in CHAIN}
        return {WEIGHTS: safetensors.numpy.save(chain)}

    @classmethod
    def check(cls, index: Mapping[str, Any]) -> None:
        """Raise an error for an invalid value in the description."""
        _DESCRIPTION(index, "")
        labels(TAGS)(index["encoding"]["labels"], "encoding.labels")

    @classmethod
    def read(cls, index: Mapping[str, Any], graphs: Graphs, files: Mapping[str, bytes]) -> TagBundle:
        """Build the bundle from a description, graphs and additional files. Errors are not translated."""
        encoding = Encoding.from_json(index["encoding"])
        temperature = float(index.get("temperature", 1.0))  # not in bundles of gonie 0.1
        if not 0 < temperature < math.inf:
            raise ValueError(f"temperature must be positive and finite: {temperature}")
        return cls(
            encoding=encoding,
            tokenizer=typed_value(index, "tokenizer", dict),
            graph=graphs.graph,
            forms=graphs.forms,
            **_chain(files[WEIGHTS], len(encoding.labels)),
            constrained=typed_value(index, "constrained", bool),
            forbidden=index.get("forbidden", []),  # not in format 1
            given_scheme=Scheme.from_json(index["given_scheme"]) if "given_scheme" in index else None,
            temperature=temperature,
            about=About.read(index),
        )


def _chain(content: bytes, tags: int) -> dict[str, Any]:
    weights = safetensors.numpy.load(content)
    got = {name: weights[name].shape for name in CHAIN}
    if got != {"transitions": (tags, tags), "start": (tags,), "end": (tags,)}:
        raise ValueError(f"{WEIGHTS} is not a chain over {tags} labels: {got}")
    if not all(weights[name].dtype == np.float32 and np.isfinite(weights[name]).all() for name in CHAIN):
        raise ValueError(f"{WEIGHTS} has values that are not finite float32")
    return {name: weights[name] for name in CHAIN}
