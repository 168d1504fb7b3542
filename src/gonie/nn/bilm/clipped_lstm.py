"""LSTM with a projection and clipped cells and states, as published ELMo weights need."""

from __future__ import annotations

import torch
from torch import Tensor

from gonie.nn.bilm.projected_lstm import Carried, ProjectedLSTM
from gonie.nn.bilm.projected_lstm_cpu import gate_inputs
from gonie.nn.precision import full_precision


class ClippedLSTM(ProjectedLSTM):
    """As ``ProjectedLSTM``, with c[t] and h[t] clipped.

    c[t] is clipped to ±``cell_clip`` before the output gate, and h[t] to ±``state_clip`` after the
    projection. No library kernel supports clipping, so this is a loop over time: exact, but slower.
    """

    def __init__(self, *, width: int, hidden: int, cell_clip: float, state_clip: float) -> None:
        super().__init__(width=width, hidden=hidden)
        self.cell_clip = cell_clip
        self.state_clip = state_clip

    def forward(self, x: Tensor, carried: Carried) -> tuple[Tensor, Carried]:
        """Return the states, and the final states to carry to the next stretch of the same rows."""
        return full_precision(self._run)(x, carried)

    def _run(self, x: Tensor, carried: Carried) -> tuple[Tensor, Carried]:
        h, c = carried
        states = []
        for step in gate_inputs(x, self.input_weight, self.bias):  # (B, 4H)
            i, f, g, o = (step + h @ self.state_weight.t()).chunk(4, dim=1)  # (B, H) each
            c = torch.sigmoid(f) * c + torch.sigmoid(i) * torch.tanh(g)
            c = c.clamp(-self.cell_clip, self.cell_clip)
            h = (torch.sigmoid(o) * torch.tanh(c)) @ self.projection.t()
            h = h.clamp(-self.state_clip, self.state_clip)
            states.append(h)
        return torch.stack(states), (h, c)

    def extra_repr(self) -> str:
        """Return the clipping bounds."""
        return f"cell_clip={self.cell_clip}, state_clip={self.state_clip}"
