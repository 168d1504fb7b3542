"""The sequences that a model level reads: sentences of tokens, or texts of sentences.

A graph declares an input when it is first used, so lengths and mask are created on demand.
"""

from __future__ import annotations

from functools import cached_property
from typing import Protocol

from onnx import TensorProto

from gonie.export.graph import Graph


class Rows(Protocol):
    """The names of the lengths and of the mask of the rows."""

    @property
    def lengths(self) -> str:
        """The length of each row, as recurrences need it: (B,) int32."""

    @property
    def mask(self) -> str:
        """True where there is no padding: (B, T) bool."""


class Sentences:
    """Rows of tokens."""

    def __init__(self, graph: Graph) -> None:
        self._graph = graph

    @cached_property
    def lengths(self) -> str:
        """The number of tokens of each sentence."""
        return self._graph.lengths("lengths")

    @property
    def mask(self) -> str:
        """The mask of real tokens."""
        return self._graph.input("mask")


class Texts:
    """Rows of sentences: N in place of B, S in place of T."""

    def __init__(self, graph: Graph) -> None:
        self._graph = graph

    @cached_property
    def lengths(self) -> str:
        """The number of sentences of each text."""
        ones = self._graph.add("Cast", self.mask, to=TensorProto.INT32)
        return self._graph.add("ReduceSum", ones, self._graph.weight([1]), keepdims=0)

    @property
    def mask(self) -> str:
        """The mask of real sentences."""
        return self._graph.input("places_mask")
