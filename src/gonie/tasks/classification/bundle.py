"""The contents of a bundle of the task "classify": a trained classifier as plain values.

Besides the keys of every bundle (``gonie.runtime.bundle``), its description has

    temperature above 0: scores are divided by it before they become probabilities

``encoding`` is written by ``gonie.features.text_encoding`` and includes how texts are tokenised.
``model.onnx`` is a graph from the arrays of ``gonie.features.text_corpus`` to ``scores`` (N, K),
``word_shares`` (B, T) and ``sentence_shares`` (N, S).
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar

from gonie.features.text_encoding import TextEncoding
from gonie.runtime.about import About, typed_value
from gonie.runtime.bundle import Graphs
from gonie.runtime.encoding_check import text_encoding
from gonie.runtime.validators import NAME, number, record, texts

_DATA = record({}, {"marks": texts(100, NAME)})
_DESCRIPTION = record(
    {"temperature": number, "encoding": text_encoding, "recipe": record({}, {"data": _DATA})}
)


@dataclass(frozen=True, kw_only=True)
class TextBundle:
    """The contents of a classifier's bundle.

    ``graph`` and ``forms`` are serialised ONNX (``Graphs``), added by the export. Scores divided by the
    ``temperature`` give calibrated probabilities.
    """

    task: ClassVar[str] = "classify"
    further: ClassVar[Mapping[str, int]] = {}
    """Additional files: none."""

    encoding: TextEncoding
    graph: bytes = b""
    forms: bytes | None = None
    temperature: float = 1.0
    about: About = field(default_factory=About)

    def describe(self) -> dict[str, Any]:
        """Return the keys of the description that only classifiers have."""
        return {"temperature": self.temperature}

    def files(self) -> dict[str, bytes]:
        """Return no additional files."""
        return {}

    @classmethod
    def check(cls, index: Mapping[str, Any]) -> None:
        """Raise an error for an invalid value in the description."""
        _DESCRIPTION(index, "")

    @classmethod
    def read(cls, index: Mapping[str, Any], graphs: Graphs, files: Mapping[str, bytes]) -> TextBundle:
        """Build the bundle from a description and graphs. Errors are not translated."""
        temperature = typed_value(index, "temperature", float)
        if not 0 < temperature < math.inf:
            raise ValueError(f"temperature must be positive and finite: {temperature}")
        return cls(
            encoding=TextEncoding.from_json(index["encoding"]),
            graph=graphs.graph,
            forms=graphs.forms,
            temperature=temperature,
            about=About.read(index),
        )
