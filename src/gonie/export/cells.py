"""Recurrent layers as the RNN and LSTM operators of ONNX, which support lengths and both directions.

ONNX stacks the gates of a layer in the order i, o, f, c and its peepholes in the order i, o, f. torch and
``PeepholeLSTM`` use i, f, c, o and i, f, o.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn

from gonie.export.graph import Graph, Recurrence
from gonie.export.lookup import look_up
from gonie.nn.encoders import LSTM, Elman, PeepholeLSTM

GATES = (0, 3, 1, 2)  # the positions of i, o, f, c in i, f, c, o
PEEPHOLES = (0, 2, 1)  # the positions of i, o, f in i, f, o
Y, Y_H = 0, 1  # outputs of the operators: all states, last states


@dataclass(frozen=True, kw_only=True)
class RecurrentCell:
    """The weights of one direction in ONNX layout: (G*H, D), (G*H, H), (2*G*H,) and for peepholes (3*H,)."""

    op: str
    hidden: int
    activations: tuple[str, ...]
    weight_ih: Tensor
    weight_hh: Tensor
    bias: Tensor
    peepholes: Tensor | None = None


def cell(layer: nn.Module) -> RecurrentCell:
    """Return the weights of a one-way layer."""
    return look_up("recurrent layer", layer, CELLS)(layer)


def can_share_operator(one: RecurrentCell, other: RecurrentCell) -> bool:
    """Return whether both cells can be the two directions of one operator."""
    same = one.op == other.op and one.hidden == other.hidden
    return same and (one.peepholes is None) == (other.peepholes is None)


def recur(
    graph: Graph,
    x: str,
    lengths: str,
    cells: Sequence[RecurrentCell],
    *,
    direction: str,
    output: int = Y,
    largest: float | None = None,
) -> str:
    """Add the operator over ``x`` (T, B, D) and ``lengths`` (B,) int32, with one cell per direction.

    ``largest`` is the largest absolute value in ``x``, if measured. Shape: all states (T, B, directions * H),
    or with ``output=Y_H`` the last of each direction, (B, directions * H). States after the end of a sentence
    are 0.
    """
    first = cells[0]
    peepholes = [c.peepholes for c in cells if c.peepholes is not None]
    part = Recurrence(
        op=first.op,
        hidden=first.hidden,
        of_input=_stack([c.weight_ih for c in cells]),
        of_states=_stack([c.weight_hh for c in cells]),
        bias=_stack([c.bias for c in cells]),
        peepholes=_stack(peepholes) if peepholes else None,
        output=output,
        attributes={
            "hidden_size": first.hidden,
            "direction": direction,
            "activations": [name for c in cells for name in c.activations],
        },
    )
    states = graph.recurrence(x, lengths, part, largest=largest)
    if output == Y_H:  # (directions, B, H)
        return _merge_directions(graph, states, perm=[1, 0, 2], shape=[0, -1])
    return _merge_directions(graph, states, perm=[0, 2, 1, 3], shape=[0, 0, -1])  # from (T, directions, B, H)


def _stack(weights: Sequence[Tensor]) -> Tensor:
    return torch.stack([weight.detach().float().cpu() for weight in weights])


def _merge_directions(graph: Graph, states: str, *, perm: list[int], shape: list[int]) -> str:
    """Move the axis of directions before that of the states, and merge the two."""
    return graph.add("Reshape", graph.add("Transpose", states, perm=perm), graph.weight(shape))


def _elman(layer: Any) -> RecurrentCell:
    return RecurrentCell(
        op="RNN",
        hidden=layer.width,
        activations=({"tanh": "Tanh", "sigmoid": "Sigmoid"}[layer.activation],),
        weight_ih=layer.weight_ih,
        weight_hh=layer.weight_hh,
        bias=torch.cat([layer.bias, torch.zeros_like(layer.bias)]),
    )


def _lstm(layer: Any) -> RecurrentCell:
    weights = layer.lstm
    return RecurrentCell(
        op="LSTM",
        hidden=layer.width,
        activations=("Sigmoid", "Tanh", "Tanh"),
        weight_ih=_reorder(weights.weight_ih_l0, GATES),
        weight_hh=_reorder(weights.weight_hh_l0, GATES),
        bias=torch.cat([_reorder(weights.bias_ih_l0, GATES), _reorder(weights.bias_hh_l0, GATES)]),
    )


def _peephole(layer: Any) -> RecurrentCell:
    bias = _reorder(layer.bias, GATES)
    return RecurrentCell(
        op="LSTM",
        hidden=layer.width,
        activations=("Sigmoid", "Tanh", "Tanh"),
        weight_ih=_reorder(layer.weight_ih, GATES),
        weight_hh=_reorder(layer.weight_hh, GATES),
        bias=torch.cat([bias, torch.zeros_like(bias)]),
        peepholes=layer.peepholes[list(PEEPHOLES)].flatten(),
    )


def _reorder(stacked: Tensor, order: Sequence[int]) -> Tensor:
    """Return the blocks of equal height of ``stacked`` in another order."""
    blocks = stacked.chunk(len(order))
    return torch.cat([blocks[i] for i in order])


CELLS: dict[type, Callable[[Any], RecurrentCell]] = {Elman: _elman, LSTM: _lstm, PeepholeLSTM: _peephole}
"""The function that reads the weights of each one-way layer that has an ONNX operator."""
