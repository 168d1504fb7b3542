"""Scores of the tags at each token, the first step of every head."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from gonie.nn.embeddings.features import FeatureEmbedding
from gonie.nn.initial import glorot_
from gonie.nn.protocols import Batch


class Scores(nn.Module):
    """scores[b, t] = W states[b, t] + b + Σ over active features at (b, t) of their weights for each tag.

    The direct connections from sparse features, which bypass all hidden layers, are those of Huang et al.
    2015 (arXiv:1508.01991) §3.3, after Mikolov et al. 2011. ``direct`` maps each group to its number of
    features. W (K, width) is initialised by Glorot, the bias and the direct weights at 0. With ``width`` 0
    there is no W: a model of direct features alone. ``dropout`` is that of the direct features.

    Shape: states (B, T, width) -> (B, T, num_tags).
    """

    indexed: ClassVar = {"weight": ("labels",), "bias": ("labels",)}
    weight: Tensor | None

    def __init__(self, *, width: int, num_tags: int, direct: Mapping[str, int], dropout: float = 0.0) -> None:
        super().__init__()
        self.width = width
        self.num_tags = num_tags
        weight = nn.Parameter(glorot_(torch.empty(num_tags, width))) if width else None
        self.register_parameter("weight", weight)
        self.bias = nn.Parameter(torch.zeros(num_tags))
        self.direct = nn.ModuleDict(
            {group: _direct(group, size, num_tags, dropout) for group, size in direct.items()}
        )

    def forward(self, states: Tensor, batch: Batch) -> Tensor:
        """Return the scores."""
        if self.weight is None:
            scores = self.bias.expand(*states.shape[:2], -1)
        else:
            scores = F.linear(states, self.weight, self.bias)  # (B, T, K)
        for part in self.direct.values():
            scores = scores + part(batch)
        return scores


def _direct(group: str, size: int, num_tags: int, dropout: float) -> FeatureEmbedding:
    """Return weights for each feature and tag, initialised at 0."""
    part = FeatureEmbedding(group=group, size=size, width=num_tags, dropout=dropout)
    part.indexed = {"weight": (group, "labels")}
    nn.init.zeros_(part.weight)
    return part
