"""Softmax weights over tokens and weighted sums, shared by all attentions.

Both are computed in float32 at least, also under autocast. In bfloat16 a weight has two digits, and the
weights of a long text would not sum to 1.
"""

from __future__ import annotations

import torch
from torch import Tensor

from gonie.nn.precision import full_precision


@full_precision
def softmax_weights(scores: Tensor, mask: Tensor) -> Tensor:
    """Return the softmax over the real tokens of a row for each head, 0 at padding and for an empty row.

    Shape: ``scores`` (B, T, heads), ``mask`` (B, T) -> (B, T, heads).
    """
    padding = ~mask.unsqueeze(2)  # (B, T, 1)
    scores = scores.to(precision_of(scores))
    # the lowest finite number, because -inf would give NaN for an empty row
    scores = scores.masked_fill(padding, torch.finfo(scores.dtype).min)
    return scores.softmax(1).masked_fill(padding, 0.0)


@full_precision
def weighted_sums(x: Tensor, weights: Tensor) -> Tensor:
    """Return Σt weights[t] x[t] for each head, concatenated, in the precision of ``x``.

    Shape: ``x`` (B, T, H), ``weights`` (B, T, heads) -> (B, heads * H).
    """
    sums = weights.transpose(1, 2) @ x.to(weights.dtype)  # (B, heads, H)
    return sums.flatten(1).to(x.dtype)


def precision_of(x: Tensor) -> torch.dtype:
    """Return the type of the weights of states ``x``: their own type, but at least float32."""
    return torch.promote_types(x.dtype, torch.float32)
