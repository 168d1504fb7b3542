"""LSTM with a projection, computed by torch and cuDNN, for language models trained by gonie."""

from __future__ import annotations

import math
import warnings
from typing import TypeAlias

import torch
from torch import Tensor, nn

from gonie.nn.bilm.projected_lstm_cpu import run_projected_lstm
from gonie.nn.initial import forget_bias_, glorot_
from gonie.nn.precision import full_precision

Carried: TypeAlias = tuple[Tensor, Tensor]
"""States that a layer carries to the next stretch of text: h (B, P) and c (B, H)."""


class ProjectedLSTM(nn.Module):
    """c[t] = f ∘ c[t-1] + i ∘ tanh(…);  h[t] = R (o ∘ tanh(c[t])): Sak et al. 2014 (arXiv:1402.1128).

    The gates read x[t] and h[t-1], whose width P is smaller than that of the cells. Under autocast on a GPU
    it computes in the autocast type. Its weights keep their type.

    Shape: ``x`` (T, B, P), carried h (B, P), c (B, H) -> (T, B, P) and the new carried states.
    """

    def __init__(self, *, width: int, hidden: int) -> None:
        super().__init__()
        self.width = width
        self.hidden = hidden
        self.input_weight = nn.Parameter(torch.empty(4 * hidden, width))
        self.state_weight = nn.Parameter(torch.empty(4 * hidden, width))
        self.bias = nn.Parameter(torch.empty(4 * hidden))
        self.projection = nn.Parameter(torch.empty(width, hidden))
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Initialise the weights: all matrices Glorot, biases 1 for the forget gates and 0 otherwise."""
        glorot_(self.input_weight, gates=4)
        glorot_(self.state_weight, gates=4)
        forget_bias_(self.bias)
        with torch.no_grad():
            glorot_(self.projection).mul_(math.sqrt(0.5))

    def start(self, x: Tensor) -> Carried:
        """Return zero states for new rows of text. Shape: ``x`` (T, B, P)."""
        rows = x.shape[1]
        return x.new_zeros(rows, self.width), x.new_zeros(rows, self.hidden)

    def forward(self, x: Tensor, carried: Carried) -> tuple[Tensor, Carried]:
        """Return the states, and the final states to carry to the next stretch of the same rows."""
        weights = (self.input_weight, self.state_weight, self.bias, self.projection)
        if x.device.type == "cpu" and not torch.is_grad_enabled():
            states, h, c = full_precision(run_projected_lstm)(x, *carried, weights)
            return states, (h, c)
        kind = _compute_type(x)
        W, U, b, R = (weight.to(kind) for weight in weights)
        h, c = (part.to(kind).unsqueeze(0) for part in carried)
        with warnings.catch_warnings():  # cast weights are not contiguous, so cuDNN copies them
            warnings.filterwarnings("ignore", message=".*(single contiguous chunk|LSTM with projections)")
            states, h, c = torch.lstm(
                x.to(kind),
                (h, c),
                (W, U, b, torch.zeros_like(b), R),
                True,
                1,
                0.0,
                self.training,
                False,
                False,
            )  # has_biases, num_layers, dropout, train, bidirectional, batch_first
        return states, (h.squeeze(0), c.squeeze(0))


def _compute_type(x: Tensor) -> torch.dtype:
    """Return the autocast type on a GPU, otherwise the type of the input."""
    if x.is_cuda and torch.is_autocast_enabled("cuda"):
        return torch.get_autocast_dtype("cuda")
    return x.dtype
