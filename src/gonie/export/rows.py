"""The rows that a level reads, each a sequence: the sentences of a batch, or its texts as sentences.

What a graph asks of a batch is declared when it is first asked for, so lengths and mask are made on demand.
"""

from __future__ import annotations

from functools import cached_property
from typing import Protocol

from onnx import TensorProto

from gonie.export.graph import Graph


class Rows(Protocol):
    """The names of two values."""

    @property
    def lengths(self) -> str:
        """How long each row is, as recurrences take it: (B,) int32."""

    @property
    def mask(self) -> str:
        """True at what belongs to a row: (B, T) bool."""


class Sentences:
    """Rows of tokens."""

    def __init__(self, graph: Graph) -> None:
        self._graph = graph

    @cached_property
    def lengths(self) -> str:
        """Tokens of each sentence."""
        return self._graph.lengths("lengths")

    @property
    def mask(self) -> str:
        """Tokens and padding."""
        return self._graph.input("mask")


class Texts:
    """Rows of sentences: N in the place of B, S in that of T."""

    def __init__(self, graph: Graph) -> None:
        self._graph = graph

    @cached_property
    def lengths(self) -> str:
        """Sentences of each text."""
        ones = self._graph.add("Cast", self.mask, to=TensorProto.INT32)
        return self._graph.add("ReduceSum", ones, self._graph.weight([1]), keepdims=0)

    @property
    def mask(self) -> str:
        """Sentences and padding."""
        return self._graph.input("places_mask")
