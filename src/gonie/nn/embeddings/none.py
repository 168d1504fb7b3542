"""No embedding at all: vectors of width 0, for models that live on direct features alone."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from gonie.nn.protocols import Batch


class NoEmbedding(nn.Module):
    """Gives each token the empty vector. Shape: (B, T, 0)."""

    def __init__(self) -> None:
        super().__init__()
        self.width = 0

    def forward(self, batch: Batch) -> Tensor:
        """The empty vectors."""
        mask = batch["mask"]
        return torch.empty(*mask.shape, 0, device=mask.device)
