"""A trained classifier as plain values: what a bundle of the task "classify" holds.

Its description has, beside what every bundle has (``gonie.runtime.bundle``),

    temperature above 0: the scores are divided by it before they become probabilities

and its ``encoding`` is as ``gonie.features.text_encoding`` writes it, with how texts are cut. ``model.onnx``
is a graph from the arrays of ``gonie.features.text_corpus`` to ``scores`` (N, K), ``word_shares`` (B, T) and
``sentence_shares`` (N, S).
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
    """``graph`` and ``forms`` are serialised ONNX (``Graphs``), which the export adds; scores divided by the
    ``temperature`` give calibrated probabilities.
    """

    task: ClassVar[str] = "classify"
    further: ClassVar[Mapping[str, int]] = {}
    """It has no files beside the description and the graphs."""

    encoding: TextEncoding
    graph: bytes = b""
    forms: bytes | None = None
    temperature: float = 1.0
    about: About = field(default_factory=About)

    def describe(self) -> dict[str, Any]:
        """What the description of a classifier has and that of another bundle has not."""
        return {"temperature": self.temperature}

    def files(self) -> dict[str, bytes]:
        """It has no further files."""
        return {}

    @classmethod
    def check(cls, index: Mapping[str, Any]) -> None:
        """Refuse a value that no description of a classifier has."""
        _DESCRIPTION(index, "")

    @classmethod
    def read(cls, index: Mapping[str, Any], graphs: Graphs, files: Mapping[str, bytes]) -> TextBundle:
        """From a description and graphs; what is wrong with them is raised as it comes."""
        temperature = typed_value(index, "temperature", float)
        if not 0 < temperature < math.inf:
            raise ValueError(f"temperature is {temperature}")
        return cls(
            encoding=TextEncoding.from_json(index["encoding"]),
            graph=graphs.graph,
            forms=graphs.forms,
            temperature=temperature,
            about=About.read(index),
        )
