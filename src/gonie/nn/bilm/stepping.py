"""The LSTM with a projection on a CPU, to be used and not trained: over many sentences faster than torch's.

oneDNN has no LSTM with a projection, so torch takes a step by nine small operations on gates that lie apart.
Here the gates of a step are one product and one sigmoid, since tanh(z) = 2 σ(2z) - 1, in place.
"""

from __future__ import annotations

from collections.abc import Iterator

import torch
import torch.nn.functional as F
from torch import Tensor

CELLS = 512
"""Inputs multiplied at once: enough for a large product, few enough to stay near the processor."""

Weights = tuple[Tensor, Tensor, Tensor, Tensor]
"""Input (4H, P), state (4H, P), bias (4H,), projection (P, H); gates in the order i, f, cell, o."""


def read_in_steps(x: Tensor, h: Tensor, c: Tensor, weights: Weights) -> tuple[Tensor, Tensor, Tensor]:
    """The states, and h and c after the last; without gradients.

    Shape: (T, B, P), (B, P), (B, H) -> (T, B, P), (B, P), (B, H).
    """
    W, b, U, R = _prepared(weights)
    states = torch.empty_like(x)
    for gates, state in zip(each_input(x, W, b), states, strict=True):  # (B, 4H), (B, P)
        i, f, g, o = gates.addmm_(h, U).sigmoid_().chunk(4, dim=1)  # (B, H) each
        c = (f * c).addcmul_(i, g, value=2.0).sub_(i)
        squashed = (2.0 * c).sigmoid_()  # (B, H)
        h = torch.mm((o * squashed).mul_(2.0).sub_(o), R, out=state)
    return states, h.clone(), c


def each_input(x: Tensor, weight: Tensor, bias: Tensor) -> Iterator[Tensor]:
    """What each step adds to the gates, multiplied for some steps at once; each its own tensor.

    Shape: (T, B, P), (4H, P), (4H,) -> T times (B, 4H).
    """
    steps = max(1, CELLS // max(1, x.shape[1]))
    for start in range(0, len(x), steps):
        yield from F.linear(x[start : start + steps], weight, bias)


def _prepared(weights: Weights) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """The rows of the cell's gate doubled, and what is multiplied from the right turned round."""
    W, U, b, R = weights
    hidden = R.shape[1]
    scale = torch.ones_like(b)
    scale[2 * hidden : 3 * hidden] = 2.0
    return W * scale.unsqueeze(1), b * scale, (U * scale.unsqueeze(1)).t().contiguous(), R.t().contiguous()
