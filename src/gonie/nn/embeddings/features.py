"""Sparse features (spelling, context, gazetteer) as vectors: a position has any number of them, or none."""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from gonie.nn.initial import embedding_
from gonie.nn.protocols import Batch


class FeatureEmbedding(nn.Module):
    """x[b, t] = the sum of the vectors of the features that fire at (b, t), 0 where none does.

    Features travel as flat ``<group>.ids`` (F,) and ``<group>.offsets`` (B*T + 1,): position (b, t) has
    ids[offsets[b*T + t] : offsets[b*T + t + 1]]. Every id is a feature; there is no padding row. Vectors
    start uniform on ±sqrt(3 / D). Shape: (B, T, width).
    """

    def __init__(self, *, group: str, size: int, width: int) -> None:
        super().__init__()
        self.group = group
        self.width = width
        self.weight = nn.Parameter(torch.empty(size, width))
        embedding_(self.weight, padding=None)

    def forward(self, batch: Batch) -> Tensor:
        """The summed vectors."""
        ids, offsets = batch[f"{self.group}.ids"], batch[f"{self.group}.offsets"]
        sums = F.embedding_bag(ids, self.weight, offsets, mode="sum", include_last_offset=True)  # (B*T, D)
        return sums.view(*batch["mask"].shape, self.width)

    def extra_repr(self) -> str:
        """The group and the table's shape."""
        return f"{self.group}, {self.weight.shape[0]}, {self.width}"
