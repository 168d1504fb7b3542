"""Window network: the state of a token depends only on the vectors of the tokens around it."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from gonie.errors import InputError
from gonie.nn.initial import embedding_, glorot_


class Window(nn.Module):
    """h[t] = tanh(W [x[t-c]; …; x[t]; …; x[t+c]] + b), C = 2c + 1 tokens: Collobert et al. 2011.

    Further ``layers`` are tanh(W h + b) each. Positions before a sentence have the learned vector
    ``edges[0]``, those after it ``edges[1]``. W is initialised uniformly on ±√6 / √(fan in + fan out), b at
    0, the edges as word vectors are.

    Shape: (B, T, width) -> (B, T, hidden).
    """

    def __init__(self, *, width: int, hidden: int, size: int, layers: int = 1) -> None:
        super().__init__()
        if size < 1 or size % 2 == 0:
            raise InputError(f"window size must be odd: {size}")
        if layers < 1:
            raise InputError(f"layers must be at least 1: {layers}")
        self.input_width = width
        self.width = hidden
        self.size = size
        self.edges = nn.Parameter(embedding_(torch.empty(2, width), padding=None))
        widths = [size * width, *[hidden] * (layers - 1)]
        self.layers = nn.ModuleList(nn.Linear(below, hidden) for below in widths)
        for layer in self.linear():
            glorot_(layer.weight)
            nn.init.zeros_(layer.bias)

    def linear(self) -> list[nn.Linear]:
        """Return the layers, lowest first."""
        return [layer for layer in self.layers if isinstance(layer, nn.Linear)]

    def forward(self, x: Tensor, mask: Tensor) -> Tensor:
        """Return the states, zero at padding."""
        for_tokens = mask.unsqueeze(2)  # (B, T, 1)
        B, T, D = x.shape
        reach = self.size // 2
        before, after = (edge.expand(B, reach, D) for edge in self.edges)
        padded = torch.cat([before, x.where(for_tokens, self.edges[1]), after], dim=1)  # (B, T + C - 1, D)
        states = torch.cat([padded[:, at : at + T] for at in range(self.size)], dim=2)  # (B, T, C * D)
        for layer in self.linear():
            states = layer(states).tanh()
        return states.masked_fill(~for_tokens, 0.0)

    def extra_repr(self) -> str:
        """Return the window size."""
        return f"size={self.size}"
