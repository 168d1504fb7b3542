"""The gate inputs in the loops of a language model, in float32.

They are most of its work. ``int8_gates`` computes them with int8 products.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from gonie.export.compact import compact
from gonie.export.graph import Graph
from gonie.nn.bilm import ProjectedLSTM

GateInputs = Callable[[Graph, str, str], list[str]]
"""Adds the inputs of the four gates of a step, (B, H) each, from x[t] and the previous states h (B, P)."""


class Gates(Protocol):
    """Adds the constants of a layer's gates to a graph and returns a function that adds a step."""

    def over_words(self, graph: Graph, part: ProjectedLSTM, words: str) -> GateInputs:
        """Return the gates of a first layer. x[t] (B,) is an index into ``words`` (U, P) per sentence."""
        ...

    def over_states(self, graph: Graph, part: ProjectedLSTM) -> GateInputs:
        """Return the gates of a higher layer. x[t] (B, P) are the states of the layer below."""
        ...


class FloatGates:
    """Uses one product per gate, so that no output needs to be split."""

    def over_words(self, graph: Graph, part: ProjectedLSTM, words: str) -> GateInputs:
        """Look up what a word adds to each gate in a table, computed once per distinct word."""
        tables = word_tables(graph, part, words)
        weights = [compact(graph, weight) for weight in part.state_weight.chunk(4)]  # (H, P) each

        def gate_inputs(inner: Graph, form: str, h: str) -> list[str]:
            return [
                inner.add("Gemm", h, weight, inner.add("Gather", table, form, axis=0), transB=1)
                for weight, table in zip(weights, tables, strict=True)
            ]

        return gate_inputs

    def over_states(self, graph: Graph, part: ProjectedLSTM) -> GateInputs:
        """Use one product of [x; h] per gate."""
        pairs = zip(part.input_weight.chunk(4), part.state_weight.chunk(4), strict=True)
        weights = [
            graph.add("Concat", compact(graph, from_input), compact(graph, from_state), axis=1)  # (H, 2P)
            for from_input, from_state in pairs
        ]
        biases = [compact(graph, bias) for bias in part.bias.chunk(4)]

        def gate_inputs(inner: Graph, x: str, h: str) -> list[str]:
            both = inner.add("Concat", x, h, axis=1)  # (B, 2P)
            return [
                inner.add("Gemm", both, weight, bias, transB=1)
                for weight, bias in zip(weights, biases, strict=True)
            ]

        return gate_inputs


def word_tables(graph: Graph, part: ProjectedLSTM, words: str) -> list[str]:
    """Return what each of ``words`` (U, P) adds to each gate, including its bias: (U, H) per gate."""
    return [
        graph.add("Gemm", words, compact(graph, weight), compact(graph, bias), transB=1)
        for weight, bias in zip(part.input_weight.chunk(4), part.bias.chunk(4), strict=True)
    ]
