"""Embedding of sparse features (spelling, context, gazetteer), any number per position."""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from gonie.nn.dropout import checked_rate
from gonie.nn.initial import embedding_
from gonie.nn.protocols import Batch


class FeatureEmbedding(nn.Module):
    """x[b, t] = sum of the vectors of the active features at (b, t), 0 if there is none.

    Features are flat ``<group>.ids`` (F,) and ``<group>.offsets`` (B*T + 1,): position (b, t) has
    ids[offsets[b*T + t] : offsets[b*T + t + 1]]. Every id is a feature. There is no padding row. Vectors are
    initialised uniformly on ±sqrt(3 / D). While training, each active feature is dropped with probability
    ``dropout``, and the others are scaled, so that the mean of the sum is preserved. Shape: (B, T, width).
    """

    def __init__(self, *, group: str, size: int, width: int, dropout: float = 0.0) -> None:
        super().__init__()
        self.group = group
        self.width = width
        self.dropout = checked_rate(dropout)
        self.weight = nn.Parameter(torch.empty(size, width))
        embedding_(self.weight, padding=None)
        self.indexed: dict[str, tuple[str, ...]] = {"weight": (group,)}

    def forward(self, batch: Batch) -> Tensor:
        """Return the summed vectors."""
        ids, offsets = batch[f"{self.group}.ids"], batch[f"{self.group}.offsets"]
        keep = None  # (F,)
        if self.training and self.dropout:
            keep = self.weight.new_empty(ids.shape).bernoulli_(1.0 - self.dropout).div_(1.0 - self.dropout)
        sums = F.embedding_bag(
            ids, self.weight, offsets, mode="sum", include_last_offset=True, per_sample_weights=keep
        )  # (B*T, D)
        return sums.view(*batch["mask"].shape, self.width)

    def extra_repr(self) -> str:
        """Return the group and the shape of the table."""
        return f"{self.group}, {self.weight.shape[0]}, {self.width}"
