"""Scores of the labels of a text, the first step of every classifier head."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from gonie.nn.bag import Bag
from gonie.nn.initial import glorot_
from gonie.nn.protocols import Batch


class TextScores(nn.Module):
    """scores[n] = W vectors[n] + b + Σ over the n-grams of text n of their weights / √(number of n-grams).

    ``direct`` maps each bag of n-grams to its size. The n-gram weights bypass all hidden layers, as those of
    sparse features in a tagger's ``Scores``. W (K, width) is initialised by Glorot, the bias and the direct
    weights at 0. With ``width`` 0 there is no W: a linear model of n-grams alone.

    ``direct_rate`` multiplies the learning rate of the direct weights, because most n-grams are rare.

    Shape: vectors (N, width) -> (N, num_labels).
    """

    indexed: ClassVar = {"weight": ("labels",), "bias": ("labels",)}
    weight: Tensor | None

    def __init__(
        self, *, width: int, num_labels: int, direct: Mapping[str, int], direct_rate: float | None = None
    ) -> None:
        super().__init__()
        self.width = width
        self.num_labels = num_labels
        weight = nn.Parameter(glorot_(torch.empty(num_labels, width))) if width else None
        self.register_parameter("weight", weight)
        self.bias = nn.Parameter(torch.zeros(num_labels))
        self.direct = nn.ModuleDict(
            {group: _direct(group, size, num_labels) for group, size in direct.items()}
        )
        if direct and direct_rate is not None:
            self.direct.rate_scale = direct_rate  # type: ignore[assignment]

    def forward(self, vectors: Tensor, batch: Batch) -> Tensor:
        """Return the scores."""
        if self.weight is None:
            scores = self.bias.expand(len(vectors), -1)
        else:
            scores = F.linear(vectors, self.weight, self.bias)  # (N, K)
        for part in self.direct.values():
            scores = scores + part(batch)
        return scores


def _direct(group: str, size: int, num_labels: int) -> Bag:
    """Return weights for each n-gram and label, initialised at 0."""
    part = Bag(group=group, size=size, width=num_labels)
    part.indexed = {"weight": (group, "labels")}
    nn.init.zeros_(part.weight)
    return part
