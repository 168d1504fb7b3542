"""Concatenation of several embeddings, such as words, characters and features."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor, nn

from gonie.errors import InputError
from gonie.nn.protocols import Batch, Embedding, as_modules


class Stack(nn.Module):
    """x = [part1; part2; …], in the given order. Shape: (B, T, sum of the parts' widths)."""

    def __init__(self, parts: Sequence[Embedding]) -> None:
        super().__init__()
        if not parts:
            raise InputError("no embeddings", fix="Pass at least one, or use NoEmbedding")
        self.width = sum(part.width for part in parts)
        self.parts = nn.ModuleList(as_modules(parts))

    def forward(self, batch: Batch) -> Tensor:
        """Return the concatenated vectors."""
        return torch.cat([part(batch) for part in self.parts], dim=2)
