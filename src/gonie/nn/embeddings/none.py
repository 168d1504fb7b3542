"""Empty embedding, for models that use only direct features."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from gonie.nn.protocols import Batch


class NoEmbedding(nn.Module):
    """Map each token to the empty vector. Shape: (B, T, 0)."""

    def __init__(self) -> None:
        super().__init__()
        self.width = 0

    def forward(self, batch: Batch) -> Tensor:
        """Return the empty vectors."""
        mask = batch["mask"]
        return torch.empty(*mask.shape, 0, device=mask.device)
