"""A trained classifier as plain values: what a bundle of the task "classify" holds."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar

from gonie.features.text_encoding import TextEncoding
from gonie.runtime.about import About, of_kind
from gonie.runtime.graphs import Graphs


@dataclass(frozen=True, kw_only=True)
class TextBundle:
    """``graph`` and ``forms`` are serialised ONNX (``Graphs``); scores by the ``temperature`` give calibrated
    probabilities.

    ``gonie.runtime.bundle`` says what each part means on disk.
    """

    task: ClassVar[str] = "classify"
    further: ClassVar[tuple[str, ...]] = ()
    """Its files beside the description and the graph."""

    encoding: TextEncoding
    graph: bytes
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
    def read(cls, index: Mapping[str, Any], graphs: Graphs, files: Mapping[str, bytes]) -> TextBundle:
        """From a description and graphs; what is wrong with them is raised as it comes."""
        temperature = of_kind(index, "temperature", float)
        if not 0 < temperature < math.inf:
            raise ValueError(f"temperature is {temperature}")
        return cls(
            encoding=TextEncoding.from_json(index["encoding"]),
            graph=graphs.graph,
            forms=graphs.forms,
            temperature=temperature,
            about=About.read(index),
        )
