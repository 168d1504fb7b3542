"""The ONNX graph of the two directions of a language model. Each layer is a loop over time.

The LSTM of ONNX has no projection. Multiplying the projection into its weights at least doubles the work. So
each step is written out, and only the states are kept for all steps. The gate inputs, which are most of the
work, use int8 products in the layers whose ``ranges`` the graph has.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
import torch
from onnx import TensorProto

from gonie.export.compact import compact
from gonie.export.gates import FloatGates, GateInputs, Gates
from gonie.export.graph import Graph
from gonie.export.int8_gates import Int8Gates
from gonie.export.lookup import look_up
from gonie.export.scan import Step, scan
from gonie.features.byte_spelling import begin_row, end_row
from gonie.nn.bilm import BiLM, Carried, CarriedBoth, ClippedLSTM, Direction, ProjectedLSTM
from gonie.nn.inference import inferring

GATES = ("Sigmoid", "Sigmoid", "Tanh", "Sigmoid")  # i, f, cell, o


class Bounds(NamedTuple):
    """The clipping bounds of the cells and the states of a layer. None means no bound."""

    cell: float | None = None
    state: float | None = None


def bilm_layers(graph: Graph, part: BiLM, words: str, forms: str, lengths: str) -> list[str]:
    """Return every layer (T, B, 2P): the word vectors twice, then [forward; backward] of each layer.

    ``words`` (U, P) are the vectors of distinct words. ``forms`` (T, B) is the index of the word of each
    token.
    """
    start = after_marks(part, graph.longest)
    onward = _direction(graph, part.ahead, words, forms, start.ahead)
    backward = _direction(graph, part.back, words, _reverse(graph, forms, lengths), start.back)
    x = graph.add("Gather", words, forms, axis=0)  # (T, B, P)
    found = zip(onward, backward, strict=True)
    return [
        graph.add("Concat", x, x, axis=2),
        *(graph.add("Concat", ahead, _reverse(graph, back, lengths), axis=2) for ahead, back in found),
    ]


def after_marks(part: BiLM, longest: int) -> CarriedBoth:
    """Return the state of each layer after reading the mark of a sentence's beginning or end.

    Shape: h (1, P) and c (1, H). It is always the same, so sentences start from it and skip the mark.
    """
    rows = torch.from_numpy(np.stack([begin_row(longest), end_row(longest)]))
    with inferring(part) as device:
        begin, end = part.words(rows.to(device).long())[:, None, None]  # (1, 1, P) each
        return CarriedBoth(
            part.ahead(begin, part.ahead.start(begin))[1], part.back(end, part.back.start(end))[1]
        )


def _reverse(graph: Graph, x: str, lengths: str) -> str:
    """Reverse sentences (T, B, …), each within its own length."""
    return graph.add("ReverseSequence", x, lengths, time_axis=0, batch_axis=1)


def _direction(graph: Graph, part: Direction, words: str, forms: str, start: Sequence[Carried]) -> list[str]:
    """Return the states (T, B, P) of each layer over the words of ``forms`` (T, B), in reading order."""
    found: list[str] = []
    for layer, carried in zip(part.layers, start, strict=True):
        if not found:
            gate_inputs = _gates(graph, layer).over_words(graph, layer, words)
            x = _layer(graph, layer, forms, gate_inputs, carried, kind=TensorProto.INT64)
        else:
            y = _layer(graph, layer, x, _gates(graph, layer).over_states(graph, layer), carried)
            x = graph.add("Add", y, x) if part.skip else y
        found.append(x)
    return found


def _gates(graph: Graph, layer: ProjectedLSTM) -> Gates:
    return Int8Gates(graph.ranges) if layer in graph.ranges else FloatGates()


def _layer(
    graph: Graph,
    part: ProjectedLSTM,
    x: str,
    gate_inputs: GateInputs,
    carried: Carried,
    *,
    kind: int = TensorProto.FLOAT,
) -> str:
    """Return the states (T, B, P) of one layer over ``x`` (T, B, …)."""
    rows = graph.add("Shape", x, start=1, end=2)  # [B]
    states = [
        graph.add(
            "Expand", graph.weight(state), graph.add("Concat", rows, graph.weight([state.shape[1]]), axis=0)
        )
        for state in carried
    ]
    return scan(graph, x, states, _step(graph, part, gate_inputs), kind=kind)


def _step(graph: Graph, part: ProjectedLSTM, gate_inputs: GateInputs) -> Step:
    """Return the step c = σ(f) ∘ c + σ(i) ∘ tanh(g);  h = R (σ(o) ∘ tanh(c)), with both clipped."""
    projection = compact(graph, part.projection)  # (P, H)
    bounds = bounds_of(part)

    def step(inner: Graph, x: str, before: Sequence[str]) -> tuple[Sequence[str], str]:
        h, c = before
        gates = zip(GATES, gate_inputs(inner, x, h), strict=True)
        i, f, g, o = (inner.add(kind, gate) for kind, gate in gates)  # (B, H) each
        c = inner.add("Add", inner.add("Mul", f, c), inner.add("Mul", i, g))
        c = _clip(inner, c, bounds.cell)
        output = inner.add("Mul", o, inner.add("Tanh", c))
        h = _clip(inner, inner.add("Gemm", output, projection, transB=1), bounds.state)  # (B, P)
        return (h, c), h

    return step


def _clip(graph: Graph, x: str, bound: float | None) -> str:
    if bound is None:
        return x
    low, high = (graph.weight(np.array(value, dtype=np.float32)) for value in (-bound, bound))
    return graph.add("Clip", x, low, high)


def bounds_of(layer: object) -> Bounds:
    """Return the clipping bounds of a layer's cells and states."""
    return look_up("language model layer", layer, LAYERS)(layer)


LAYERS: dict[type, Callable[[Any], Bounds]] = {
    ProjectedLSTM: lambda layer: Bounds(),
    ClippedLSTM: lambda layer: Bounds(cell=layer.cell_clip, state=layer.state_clip),
}
