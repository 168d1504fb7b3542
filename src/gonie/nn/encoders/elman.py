"""Simple recurrent network.

The loop over time has a hand-written gradient with two operations per step in each direction. Autograd would
record and replay four.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any, Literal, NamedTuple, TypeAlias

import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torch.autograd.function import once_differentiable

from gonie.errors import InputError
from gonie.nn.dropout import checked_rate
from gonie.nn.initial import glorot_, orthogonal_
from gonie.nn.precision import full_precision

Activation: TypeAlias = Literal["tanh", "sigmoid"]


class _Nonlinearity(NamedTuple):
    """An in-place activation function, and its derivative as a function of its value."""

    apply_: Callable[[Tensor], Tensor]
    slope: Callable[[Tensor], Tensor]


_NONLINEARITIES: Mapping[str, _Nonlinearity] = MappingProxyType(
    {
        "tanh": _Nonlinearity(torch.tanh_, lambda h: 1.0 - h * h),
        "sigmoid": _Nonlinearity(torch.sigmoid_, lambda h: h * (1.0 - h)),
    }
)


class Elman(nn.Module):
    """One forward layer of h[t] = a(W x[t] + U h[t-1] + b), a = tanh or sigmoid, h[-1] = 0: Elman 1990.

    Huang et al. 2015 (arXiv:1508.01991), eq. 1, use the sigmoid. Initial weights: W Glorot, U orthogonal, b
    0. ``dropout`` is applied to U, with one mask for all sentences and steps of a batch.

    Shape: (B, T, width) -> (B, T, hidden).
    """

    def __init__(
        self, *, width: int, hidden: int, activation: Activation = "tanh", dropout: float = 0.0
    ) -> None:
        super().__init__()
        if activation not in _NONLINEARITIES:
            raise InputError(f"unknown activation: {activation!r}", fix=f"Use {' or '.join(_NONLINEARITIES)}")
        self.input_width = width
        self.width = hidden
        self.activation = activation
        self.dropout = checked_rate(dropout)
        self.weight_ih = nn.Parameter(torch.empty(hidden, width))
        self.weight_hh = nn.Parameter(torch.empty(hidden, hidden))
        self.bias = nn.Parameter(torch.empty(hidden))
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Initialise the weights."""
        glorot_(self.weight_ih)
        orthogonal_(self.weight_hh)
        nn.init.zeros_(self.bias)

    def forward(self, x: Tensor, mask: Tensor) -> Tensor:
        """Return the hidden states, zero at padding."""
        inputs = F.linear(x.transpose(0, 1), self.weight_ih, self.bias)  # (T, B, H), all steps at once
        weight = F.dropout(self.weight_hh, self.dropout, self.training)
        states = _recur(inputs, weight, self.activation)  # (T, B, H)
        return states.transpose(0, 1).masked_fill(~mask.unsqueeze(-1), 0.0)


@full_precision
def _recur(inputs: Tensor, weight: Tensor, activation: str) -> Tensor:
    """Return the states of all steps. Shape: ``inputs`` (T, B, H), ``weight`` (H, H) -> (T, B, H)."""
    return _ElmanScan.apply(inputs.to(weight.dtype), weight, activation)  # type: ignore[no-any-return, no-untyped-call]


class _ElmanScan(torch.autograd.Function):
    """h[t] = a(inputs[t] + U h[t-1]), with a hand-written gradient."""

    @staticmethod
    def forward(ctx: Any, inputs: Tensor, weight: Tensor, activation: str) -> Tensor:
        squash_ = _NONLINEARITIES[activation].apply_
        states = torch.empty_like(inputs, memory_format=torch.contiguous_format)
        steps = states.unbind(0)
        squash_(steps[0].copy_(inputs[0]))
        for before, here, x in zip(steps, steps[1:], inputs.unbind(0)[1:], strict=False):
            squash_(torch.addmm(x, before, weight.t(), out=here))
        ctx.save_for_backward(states, weight)
        ctx.activation = activation
        return states

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, *grads: Tensor) -> tuple[Tensor, Tensor, None]:
        states, weight = ctx.saved_tensors
        return *_gradients(grads[0], states, weight, ctx.activation), None


@full_precision
def _gradients(grad: Tensor, states: Tensor, weight: Tensor, activation: str) -> tuple[Tensor, Tensor]:
    """Return gradients of the inputs (T, B, H) and the weight (H, H) from that of the states (T, B, H)."""
    # inside[t] starts as the slope of the activation at step t and becomes the gradient of its input.
    inside = _NONLINEARITIES[activation].slope(states)  # (T, B, H)
    steps, outside = inside.unbind(0), grad.unbind(0)
    steps[-1].mul_(outside[-1])
    for t in range(len(steps) - 2, -1, -1):
        steps[t].mul_(torch.addmm(outside[t], steps[t + 1], weight))
    return inside, inside[1:].flatten(0, 1).t() @ states[:-1].flatten(0, 1)
