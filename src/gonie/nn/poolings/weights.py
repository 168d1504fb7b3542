"""Tokens' weights in the vector of their row, and the sum they give: what the attentions have in common.

Both are computed in float32 at least, also under autocast: in bfloat16 a weight has two digits, and those of
a long text would not sum to 1.
"""

from __future__ import annotations

import torch
from torch import Tensor

from gonie.nn.precision import full_precision


@full_precision
def softmax_weights(scores: Tensor, mask: Tensor) -> Tensor:
    """softmax over the real tokens of a row for each head, exactly 0 at padding; all 0 for an empty row.

    Shape: ``scores`` (B, T, heads), ``mask`` (B, T) -> (B, T, heads).
    """
    padding = ~mask.unsqueeze(2)  # (B, T, 1)
    scores = scores.to(precision_of(scores))
    # the lowest number and not -inf, of which an empty row would make NaN
    scores = scores.masked_fill(padding, torch.finfo(scores.dtype).min)
    return scores.softmax(1).masked_fill(padding, 0.0)


@full_precision
def weighted_sums(x: Tensor, weights: Tensor) -> Tensor:
    """Σt weights[t] x[t] for each head, the heads side by side, in the precision of ``x``.

    Shape: ``x`` (B, T, H), ``weights`` (B, T, heads) -> (B, heads * H).
    """
    sums = weights.transpose(1, 2) @ x.to(weights.dtype)  # (B, heads, H)
    return sums.flatten(1).to(x.dtype)


def precision_of(x: Tensor) -> torch.dtype:
    """What the weights of states ``x`` are given in: their own type, if it has the digits of float32."""
    return torch.promote_types(x.dtype, torch.float32)
