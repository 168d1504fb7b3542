"""The products inside the loops of a language model: what the gates of a step see, in all digits.

They are most of its work. ``int8_gates`` computes the same from bytes.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from gonie.export.compact import compact
from gonie.export.graph import Graph
from gonie.nn.bilm import ProjectedLSTM

Seen = Callable[[Graph, str, str], list[str]]
"""Writes what the four gates of a step see, (B, H) each, of its input x[t] and the states h (B, P) before."""


class Gates(Protocol):
    """Writes the constants that a layer's gates need into a graph; what it returns writes the steps."""

    def over_words(self, graph: Graph, part: ProjectedLSTM, words: str) -> Seen:
        """Of a first layer: x[t] (B,) says which of the ``words`` (U, P) each sentence is at."""
        ...

    def over_states(self, graph: Graph, part: ProjectedLSTM) -> Seen:
        """Of a layer over another: x[t] (B, P) are the states below."""
        ...


class FloatGates:
    """A product for each gate: none has to be cut from a larger array."""

    def over_words(self, graph: Graph, part: ProjectedLSTM, words: str) -> Seen:
        """What a word adds to a gate is a row of a table, made once for each distinct word."""
        tables = word_tables(graph, part, words)
        weights = [compact(graph, weight) for weight in part.state_weight.chunk(4)]  # (H, P) each

        def seen(inner: Graph, form: str, h: str) -> list[str]:
            return [
                inner.add("Gemm", h, weight, inner.add("Gather", table, form, axis=0), transB=1)
                for weight, table in zip(weights, tables, strict=True)
            ]

        return seen

    def over_states(self, graph: Graph, part: ProjectedLSTM) -> Seen:
        """One product for each gate, of [x; h]."""
        pairs = zip(part.input_weight.chunk(4), part.state_weight.chunk(4), strict=True)
        weights = [
            graph.add("Concat", compact(graph, from_input), compact(graph, from_state), axis=1)  # (H, 2P)
            for from_input, from_state in pairs
        ]
        biases = [compact(graph, bias) for bias in part.bias.chunk(4)]

        def seen(inner: Graph, x: str, h: str) -> list[str]:
            both = inner.add("Concat", x, h, axis=1)  # (B, 2P)
            return [
                inner.add("Gemm", both, weight, bias, transB=1)
                for weight, bias in zip(weights, biases, strict=True)
            ]

        return seen


def word_tables(graph: Graph, part: ProjectedLSTM, words: str) -> list[str]:
    """What each of the ``words`` (U, P) adds to the gates, their biases in it: (U, H) for each gate."""
    return [
        graph.add("Gemm", words, compact(graph, weight), compact(graph, bias), transB=1)
        for weight, bias in zip(part.input_weight.chunk(4), part.bias.chunk(4), strict=True)
    ]
