"""Bag of n-grams: one vector for all n-grams of a text, regardless of order.

Connected directly to the scores, it is a linear classifier on n-grams, a strong baseline. With a width of its
own, it is the hidden layer of fastText.
"""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from gonie.nn.initial import embedding_
from gonie.nn.protocols import Batch


class Bag(nn.Module):
    """v[n] = sum of the vectors of the n-grams of text n / √(number of n-grams), 0 if there is none.

    Joulin et al. 2017 (arXiv:1607.01759) use the mean. With the root, a long text, which has more evidence,
    can give larger scores than a short one. The n-grams are flat ``<group>.ids`` (F,) and ``<group>.offsets``
    (N + 1,): text n has ids[offsets[n] : offsets[n + 1]], with repetitions. Vectors are initialised uniformly
    on ±sqrt(3 / width). Shape: (N, width).
    """

    def __init__(self, *, group: str, size: int, width: int) -> None:
        super().__init__()
        self.group = group
        self.width = width
        self.weight = nn.Parameter(embedding_(torch.empty(size, width), padding=None))
        self.indexed: dict[str, tuple[str, ...]] = {"weight": (group,)}

    def forward(self, batch: Batch) -> Tensor:
        """Return the vectors of the texts."""
        ids, offsets = batch[f"{self.group}.ids"], batch[f"{self.group}.offsets"]
        sums = F.embedding_bag(ids, self.weight, offsets, mode="sum", include_last_offset=True)  # (N, width)
        counts = offsets.diff().clamp(min=1).to(sums.dtype)  # (N,)
        return sums / counts.sqrt().unsqueeze(1)

    def extra_repr(self) -> str:
        """Return the group and the shape of the table."""
        return f"{self.group}, {self.weight.shape[0]}, {self.width}"
