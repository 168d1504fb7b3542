"""LSTM with diagonal peepholes, the cell of Graves and of Huang et al. 2015.

No library kernel supports it, so the loop over time is here, with a hand-written gradient. Everything that
does not depend on the previous step is one large operation outside the loop, in both directions.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torch.autograd.function import once_differentiable

from gonie.nn.dropout import checked_rate
from gonie.nn.initial import forget_bias_, glorot_, orthogonal_
from gonie.nn.precision import full_precision


class PeepholeLSTM(nn.Module):
    """One forward LSTM layer whose gates read the cell, through diagonal matrices.

    i = σ(Wi x[t] + Ui h[t-1] + Wci ∘ c[t-1] + bi);  f = σ(Wf x[t] + Uf h[t-1] + Wcf ∘ c[t-1] + bf);
    c[t] = f ∘ c[t-1] + i ∘ tanh(Wc x[t] + Uc h[t-1] + bc);  o = σ(Wo x[t] + Uo h[t-1] + Wco ∘ c[t] + bo);
    h[t] = o ∘ tanh(c[t]).  The output gate reads the new cell. States start at 0 in each sentence.

    Gers & Schmidhuber 2000; Huang et al. 2015 (arXiv:1508.01991), eq. 2. ``weight_ih`` (4H, D), ``weight_hh``
    (4H, H) and ``bias`` (4H,) hold the gates in the order i, f, cell, o; ``peepholes`` (3, H) Wci, Wcf, Wco.
    Initial weights: W Glorot, U orthogonal, b 1 for f and 0 otherwise, peepholes 0, which is a standard LSTM.
    ``dropout`` is applied to U, with one mask for all sentences and steps of a batch.

    Shape: (B, T, width) -> (B, T, hidden).
    """

    def __init__(self, *, width: int, hidden: int, dropout: float = 0.0) -> None:
        super().__init__()
        self.input_width = width
        self.width = hidden
        self.dropout = checked_rate(dropout)
        self.weight_ih = nn.Parameter(torch.empty(4 * hidden, width))
        self.weight_hh = nn.Parameter(torch.empty(4 * hidden, hidden))
        self.bias = nn.Parameter(torch.empty(4 * hidden))
        self.peepholes = nn.Parameter(torch.empty(3, hidden))
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Initialise the weights."""
        glorot_(self.weight_ih, gates=4)
        orthogonal_(self.weight_hh, gates=4)
        forget_bias_(self.bias)
        nn.init.zeros_(self.peepholes)

    def forward(self, x: Tensor, mask: Tensor) -> Tensor:
        """Return the hidden states, zero at padding."""
        inputs = F.linear(x.transpose(0, 1), self.weight_ih, self.bias)  # (T, B, 4H), all steps at once
        weight = F.dropout(self.weight_hh, self.dropout, self.training)
        states = _recur(inputs, weight, self.peepholes)  # (T, B, H)
        return states.transpose(0, 1).masked_fill(~mask.unsqueeze(-1), 0.0)


@full_precision
def _recur(inputs: Tensor, weight: Tensor, peepholes: Tensor) -> Tensor:
    """Return the hidden states of all steps. Shape: (T, B, 4H), (4H, H), (3, H) -> (T, B, H)."""
    return _PeepholeScan.apply(inputs.to(weight.dtype), weight, peepholes)  # type: ignore[no-any-return, no-untyped-call]


class _Trace(NamedTuple):
    """Values of a forward pass that the gradient needs."""

    gates: Tensor
    """(T, B, 4, H): values of i, f, cell input and o."""
    cells: Tensor
    """(T + 1, B, H): c[t-1] at index t, so 0 at index 0."""
    squashed: Tensor
    """(T, B, H): tanh(c[t])."""
    states: Tensor
    """(T + 1, B, H): h[t-1] at index t, so 0 at index 0."""


class _PeepholeScan(torch.autograd.Function):
    """The recurrence with a hand-written gradient. ``inputs`` already contain W x[t] + b."""

    @staticmethod
    def forward(ctx: Any, inputs: Tensor, weight: Tensor, peepholes: Tensor) -> Tensor:
        trace = _run(inputs, weight, peepholes)
        ctx.save_for_backward(weight, peepholes, *trace)
        return trace.states[1:]

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, *grads: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        weight, peepholes, *trace = ctx.saved_tensors
        return _gradients(grads[0], weight, peepholes, _Trace(*trace))


def _run(inputs: Tensor, weight: Tensor, peepholes: Tensor) -> _Trace:
    """Run all steps forward. Shape: ``inputs`` (T, B, 4H), ``weight`` (4H, H), ``peepholes`` (3, H)."""
    T, B, H = inputs.shape[0], inputs.shape[1], weight.shape[1]
    gates, squashed = inputs.new_empty(T, B, 4, H), inputs.new_empty(T, B, H)
    cells, states = inputs.new_zeros(T + 1, B, H), inputs.new_zeros(T + 1, B, H)
    # Views of each step, taken once: (B, H) each, (B, 4H) for all gates, (B, 2, H) for i and f together.
    h, c, tanh_c, every_gate = (x.unbind(0) for x in (states, cells, squashed, gates.flatten(2)))
    i, f, g, o = (gate.unbind(0) for gate in gates.unbind(2))
    i_and_f = gates[:, :, :2].unbind(0)
    transposed, peep_before, peep_after = weight.t(), peepholes[:2], peepholes[2]
    for t, x in enumerate(inputs.unbind(0)):
        torch.addmm(x, h[t], transposed, out=every_gate[t])
        i_and_f[t].addcmul_(c[t].unsqueeze(1), peep_before).sigmoid_()
        g[t].tanh_()
        torch.mul(f[t], c[t], out=c[t + 1]).addcmul_(i[t], g[t])
        o[t].addcmul_(c[t + 1], peep_after).sigmoid_()
        torch.tanh(c[t + 1], out=tanh_c[t])
        torch.mul(o[t], tanh_c[t], out=h[t + 1])
    return _Trace(gates, cells, squashed, states)


@full_precision
def _gradients(
    grad: Tensor, weight: Tensor, peepholes: Tensor, trace: _Trace
) -> tuple[Tensor, Tensor, Tensor]:
    """Return gradients of inputs (T, B, 4H), weight (4H, H), peepholes (3, H) from the states' (T, B, H)."""
    inside = _run_back(grad, weight, peepholes, trace)  # (T, B, 4, H)
    d_inputs = inside.flatten(2)
    d_weight = d_inputs.flatten(0, 1).t() @ trace.states[:-1].flatten(0, 1)
    d_i, d_f, _, d_o = inside.unbind(2)  # (T, B, H) each
    before, after = trace.cells[:-1], trace.cells[1:]
    seen = torch.stack([d_i * before, d_f * before, d_o * after])  # (3, T, B, H)
    return d_inputs, d_weight, seen.sum((1, 2))


def _run_back(grad: Tensor, weight: Tensor, peepholes: Tensor, trace: _Trace) -> Tensor:
    """Return the gradient of each gate's pre-activation, from the last step to the first.

    Shape: (T, B, 4, H).
    """
    inside, through = _slopes(trace)
    d_h, every_gate, through_cell = (x.unbind(0) for x in (grad, inside.flatten(2), through))
    d_i, d_f, _, d_o = (gate.unbind(0) for gate in inside.unbind(2))  # (B, H) each
    up_to_cell = inside[:, :, :3].unbind(0)  # (B, 3, H) each: i, f and cell input
    f = trace.gates[:, :, 1].unbind(0)
    peep_i, peep_f, peep_o = peepholes.unbind(0)
    here, d_c = d_h[-1], torch.zeros_like(trace.cells[0])
    for t in range(len(f) - 1, -1, -1):
        d_o[t].mul_(here)
        d_c.addcmul_(here, through_cell[t]).addcmul_(d_o[t], peep_o)
        up_to_cell[t].mul_(d_c.unsqueeze(1))
        if t > 0:
            d_c.mul_(f[t]).addcmul_(d_i[t], peep_i).addcmul_(d_f[t], peep_f)
            here = torch.addmm(d_h[t - 1], every_gate[t], weight)
    return inside


def _slopes(trace: _Trace) -> tuple[Tensor, Tensor]:
    """Return the local derivatives of all steps at once.

    (T, B, 4, H): dc by the pre-activations of i, f and the cell input, dh by the pre-activation of o;
    (T, B, H): dh by c through tanh alone.
    """
    i, f, g, o = trace.gates.unbind(2)
    before, tanh_c = trace.cells[:-1], trace.squashed
    into_gates = [i * (1.0 - i) * g, f * (1.0 - f) * before, i * (1.0 - g * g), o * (1.0 - o) * tanh_c]
    return torch.stack(into_gates, dim=2), o * (1.0 - tanh_c * tanh_c)
