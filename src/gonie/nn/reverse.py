"""Reverse sequences within their own length, so that padding stays on the right.

The backward direction of a recurrent layer, and of the CRF's forward-backward recursion, is the forward one
on reversed sequences: ``a b c _`` becomes ``c b a _``. This needs no packing, no sorting and no loop over
sentences.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor


def reversal(mask: Tensor) -> Tensor:
    """Return the source index of each reversed position: len-1-t inside a sequence, t at padding.

    Shape: ``mask`` (B, T) bool, right-padded -> (B, T) int64, positions within the row.
    """
    at = torch.arange(mask.shape[1], device=mask.device)  # (T,)
    last = mask.sum(1, keepdim=True) - 1  # (B, 1)
    return torch.where(mask, last - at, at)


def reverse(x: Tensor, order: Tensor) -> Tensor:
    """Reorder sequences by ``reversal(mask)``. Applied twice, it restores them.

    Shape: ``x`` (B, T, D), ``order`` (B, T) -> (B, T, D).
    """
    B, T = order.shape
    first = torch.arange(0, B * T, T, device=order.device)  # (B,) start of each row
    return _Reversed.apply(x, (order + first.unsqueeze(1)).flatten())  # type: ignore[no-any-return, no-untyped-call]


class _Reversed(torch.autograd.Function):
    """Reorder rows of (B*T, D) by a self-inverse order.

    Its gradient is the same reordering, a copy of rows. Autograd's gradient of an index would add them one by
    one.
    """

    @staticmethod
    def forward(ctx: Any, x: Tensor, rows: Tensor) -> Tensor:
        ctx.save_for_backward(rows)
        return x.reshape(-1, x.shape[-1]).index_select(0, rows).view_as(x)

    @staticmethod
    def backward(ctx: Any, *grads: Tensor) -> tuple[Tensor, None]:
        (rows,) = ctx.saved_tensors
        return _Reversed.apply(grads[0], rows), None  # type: ignore[no-untyped-call]
