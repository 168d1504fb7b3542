"""The contents of a bundle of the task "pair": a trained model for text pairs as plain values.

Besides what every bundle has (``gonie.runtime.bundle``), its description has

    temperature above 0: the scores are divided by it before they become probabilities; 1 for values

and its ``encoding`` has ``texts``, the encoding of a classifier (``gonie.features.text_encoding``), and
``scale``: the lowest and the highest value, or null for a model of labels. ``model.onnx`` is a graph from the
arrays of ``gonie.features.text_corpus``, where ``places`` (N, 2) are the rows of the two texts, to ``scores``
(N, K), ``word_shares`` (B, T) and ``sentence_shares`` (N, 2).
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar

from gonie.runtime.about import About, typed_value
from gonie.runtime.bundle import Graphs
from gonie.runtime.encoding_check import text_encoding
from gonie.runtime.validators import NAME, either, list_of, null, number, record, text, texts
from gonie.tasks.pairs.encoding import MOST_TOKENS, PairEncoding

_NAME = either(null, text(NAME))


def _columns(value: Any, where: str) -> None:
    """Check the columns of the two texts."""
    texts(2, NAME)(value, where)
    if len(value) != 2:
        raise ValueError(f"{where} has {len(value)} columns, not 2")


_DATA = record({}, {"text_columns": either(null, _columns), "label_column": _NAME, "value_column": _NAME})
_ENCODING = record({"texts": text_encoding, "scale": either(null, list_of(number, 2))})
_DESCRIPTION = record({"temperature": number, "encoding": _ENCODING, "recipe": record({}, {"data": _DATA})})


@dataclass(frozen=True, kw_only=True)
class PairBundle:
    """``graph`` and ``forms`` are serialised ONNX (``Graphs``), which the export adds.

    Scores divided by the ``temperature`` give calibrated probabilities.
    """

    task: ClassVar[str] = "pair"
    further: ClassVar[Mapping[str, int]] = {}

    encoding: PairEncoding
    graph: bytes = b""
    forms: bytes | None = None
    temperature: float = 1.0
    about: About = field(default_factory=About)

    def describe(self) -> dict[str, Any]:
        """Return the keys of the description that only bundles of this task have."""
        return {"temperature": self.temperature}

    def files(self) -> dict[str, bytes]:
        """Return no files: the description and the graphs hold everything."""
        return {}

    @classmethod
    def check(cls, index: Mapping[str, Any]) -> None:
        """Raise ValueError for a value that no description of a pair model has."""
        _DESCRIPTION(index, "")

    @classmethod
    def read(cls, index: Mapping[str, Any], graphs: Graphs, files: Mapping[str, bytes]) -> PairBundle:
        """Return the bundle of a checked description and its graphs."""
        temperature = typed_value(index, "temperature", float)
        if not 0 < temperature < math.inf:
            raise ValueError(f"temperature is {temperature}")
        return cls(
            encoding=_checked(PairEncoding.from_json(index["encoding"])),
            graph=graphs.graph,
            forms=graphs.forms,
            temperature=temperature,
            about=About.read(index),
        )


def _checked(encoding: PairEncoding) -> PairEncoding:
    """Return the encoding, or raise ValueError for one that no pair model has."""
    texts, scale, outputs = encoding.texts, encoding.scale, len(encoding.texts.labels)
    if not 1 <= texts.passages.max_tokens <= MOST_TOKENS:
        raise ValueError(f"max_tokens is {texts.passages.max_tokens}")
    if texts.passages.by != "text" or texts.multi_label or texts.bag is not None:
        raise ValueError("the encoding is not one of pairs")
    if scale is None and outputs < 2:
        raise ValueError(f"scale is null for {outputs} output")
    if scale is not None and not (scale.low < scale.high and outputs == 1):
        raise ValueError(f"scale is {list(scale)} for {outputs} outputs")
    return encoding
