"""Convolution over words: the state of a token depends on the short phrases around it."""

from __future__ import annotations

from collections.abc import Sequence

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from gonie.errors import InputError
from gonie.nn.dropout import VariationalDropout


class Convolution(nn.Module):
    """h[t] = [ReLU(Wk [x[t - (k-1)/2]; …; x[t + k/2]] + bk) for k in kernels], x = 0 outside the sentence.

    The filters of Kim 2014 (arXiv:1408.5882) §2, ``hidden`` of each width k. With the pooling ``Max`` it is
    Kim's network. Windows are centred, so that a sentence shorter than a kernel also has states. ``dropout``
    drops a filter throughout a sentence, which with ``Max`` is Kim's dropout of the pooled vector. W is
    initialised by Glorot, b at 0.

    Shape: (B, T, width) -> (B, T, len(kernels) * hidden).
    """

    kinks = True  # at 0, because of the ReLU

    def __init__(
        self, *, width: int, hidden: int, kernels: Sequence[int] = (3, 4, 5), dropout: float = 0.0
    ) -> None:
        super().__init__()
        if not kernels or min(kernels) < 1:
            raise InputError(f"invalid kernels: {list(kernels)}", fix="Pass one or more sizes of at least 1")
        self.input_width = width
        self.width = len(kernels) * hidden
        self.kernels = tuple(kernels)
        self.filters = nn.ModuleList(nn.Conv1d(width, hidden, kernel) for kernel in kernels)
        self.dropout = VariationalDropout(dropout)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Initialise the weights."""
        for name, weight in self.filters.named_parameters():
            if name.endswith("weight"):
                nn.init.xavier_uniform_(weight)
            else:
                nn.init.zeros_(weight)

    def forward(self, x: Tensor, mask: Tensor) -> Tensor:
        """Return the states, zero at padding."""
        for_tokens = mask.unsqueeze(2)  # (B, T, 1)
        columns = x.masked_fill(~for_tokens, 0.0).transpose(1, 2)  # (B, D, T)
        states = [
            filters(F.pad(columns, ((kernel - 1) // 2, kernel // 2)))  # (B, hidden, T)
            for kernel, filters in zip(self.kernels, self.filters, strict=True)
        ]
        found = torch.cat(states, dim=1).relu().transpose(1, 2)  # (B, T, H)
        return self.dropout(found).masked_fill(~for_tokens, 0.0)  # type: ignore[no-any-return]
