"""The two directions of a language model as a piece of graph: each layer is a loop over time.

ONNX's LSTM has no projection, and with the projection multiplied into its weights it has four times the work
or more. So a step is written out, its four gates a product each of [x; h]: no gate has to be cut from a
larger array, and nothing is kept for all steps but the states.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import torch

from gonie.data.byte_spelling import begin_row, end_row
from gonie.export.compact import compact
from gonie.export.graph import Graph
from gonie.export.refusal import unknown
from gonie.export.scan import Step, scan
from gonie.models.scorer import inferring
from gonie.nn.bilm import BiLM, Carried, CarriedBoth, ClippedLSTM, Direction, ProjectedLSTM

GATES = ("Sigmoid", "Sigmoid", "Tanh", "Sigmoid")  # i, f, cell, o


class Bounds(NamedTuple):
    """What the cells and the states of a layer are kept within; None for nothing."""

    cell: float | None = None
    state: float | None = None


def bilm_layers(graph: Graph, part: BiLM, x: str, lengths: str) -> list[str]:
    """Every layer (T, B, 2P) over words ``x`` (T, B, P): these twice, then [onward; backward] of each."""
    begun = after_marks(part, graph.longest)
    turned = _reversed(graph, x, lengths)
    onward = _direction(graph, part.ahead, x, begun.ahead)
    backward = _direction(graph, part.back, turned, begun.back)
    found = zip(onward, backward, strict=True)
    return [
        graph.add("Concat", x, x, axis=2),
        *(graph.add("Concat", ahead, _reversed(graph, back, lengths), axis=2) for ahead, back in found),
    ]


def after_marks(part: BiLM, longest: int) -> CarriedBoth:
    """What each layer carries once it has read the mark of a sentence's beginning, or end: always the same.

    Shape: h (1, P) and c (1, H). So no sentence has to read its mark again.
    """
    rows = torch.from_numpy(np.stack([begin_row(longest), end_row(longest)]))
    with inferring(part) as device:
        begin, end = part.words(rows.to(device).long())[:, None, None]  # (1, 1, P) each
        return CarriedBoth(
            part.ahead(begin, part.ahead.start(begin))[1], part.back(end, part.back.start(end))[1]
        )


def _reversed(graph: Graph, x: str, lengths: str) -> str:
    """Sentences (T, B, …) backward, each within its own length."""
    return graph.add("ReverseSequence", x, lengths, time_axis=0, batch_axis=1)


def _direction(graph: Graph, part: Direction, x: str, begun: Sequence[Carried]) -> list[str]:
    """Each layer's states (T, B, P) over ``x`` (T, B, P), in the order in which it is read."""
    found: list[str] = []
    for layer, carried in zip(part.layers, begun, strict=True):
        y = _layer(graph, layer, x, carried)
        x = graph.add("Add", y, x) if part.skip and found else y
        found.append(x)
    return found


def _layer(graph: Graph, part: ProjectedLSTM, x: str, carried: Carried) -> str:
    """The states (T, B, P) of one layer."""
    rows = graph.add("Shape", x, start=1, end=2)  # [B]
    states = [
        graph.add(
            "Expand", graph.weight(state), graph.add("Concat", rows, graph.weight([state.shape[1]]), axis=0)
        )
        for state in carried
    ]
    return scan(graph, x, states, _step(graph, part))


def _step(graph: Graph, part: ProjectedLSTM) -> Step:
    """c = σ(f) ∘ c + σ(i) ∘ tanh(g);  h = R (σ(o) ∘ tanh(c)), both within their bounds."""
    gates = [
        (
            kind,
            graph.add("Concat", compact(graph, from_input), compact(graph, from_state), axis=1),  # (H, 2P)
            compact(graph, bias),
        )
        for kind, from_input, from_state, bias in zip(
            GATES, part.input_weight.chunk(4), part.state_weight.chunk(4), part.bias.chunk(4), strict=True
        )
    ]
    projection = compact(graph, part.projection)  # (P, H)
    bounds = bounds_of(part)

    def step(inner: Graph, x: str, before: Sequence[str]) -> tuple[Sequence[str], str]:
        h, c = before
        seen = inner.add("Concat", x, h, axis=1)  # (B, 2P)
        i, f, g, o = (
            inner.add(kind, inner.add("Gemm", seen, weight, bias, transB=1)) for kind, weight, bias in gates
        )  # (B, H) each
        c = inner.add("Add", inner.add("Mul", f, c), inner.add("Mul", i, g))
        c = _bounded(inner, c, bounds.cell)
        shown = inner.add("Mul", o, inner.add("Tanh", c))
        h = _bounded(inner, inner.add("Gemm", shown, projection, transB=1), bounds.state)  # (B, P)
        return (h, c), h

    return step


def _bounded(graph: Graph, x: str, bound: float | None) -> str:
    if bound is None:
        return x
    low, high = (graph.weight(np.array(value, dtype=np.float32)) for value in (-bound, bound))
    return graph.add("Clip", x, low, high)


def bounds_of(layer: object) -> Bounds:
    """The bounds of a layer's cells and states."""
    describe = LAYERS.get(type(layer))
    if describe is None:
        raise unknown("layer of a language model", layer, LAYERS)
    return describe(layer)


LAYERS: Mapping[type, Callable[[Any], Bounds]] = {
    ProjectedLSTM: lambda layer: Bounds(),
    ClippedLSTM: lambda layer: Bounds(cell=layer.cell_clip, state=layer.state_clip),
}
