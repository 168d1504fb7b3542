"""Vectors in context: the layers of a bidirectional language model, mixed as the task needs them."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor, nn

from gonie.nn.bilm.bilm import BiLM
from gonie.nn.dropout import plain
from gonie.nn.embeddings.scalar_mix import ScalarMix
from gonie.nn.protocols import Batch

MARKS = 2
"""Rows of ``bytes`` before those of the batch's words: a sentence's beginning and its end."""


class ElmoEmbedding(nn.Module):
    """x = [mix1(layers); mix2(layers); …] of a biLM's layers, one mix for each place where it is used.

    Peters et al. 2018 (arXiv:1802.05365) §3.2. Unless ``tuned``, the biLM stays as it is, and its vectors may
    come with the batch, computed once: ``elmo`` (B, T, L, 2P). Else they are computed from the ``bytes``
    (2 + U, C) of the batch's distinct words, to which ``forms`` (B, T) point, after two rows for the marks of
    a sentence's beginning and end.

    ``penalty`` times ‖w‖² of the mixes' weights is to be added to the loss: it pulls them to the plain mean.

    Shape: (B, T, 2P · mixes).
    """

    kinks = True  # of the character network

    def __init__(
        self, *, bilm: BiLM, mixes: Sequence[ScalarMix], tuned: bool, dropout: float, penalty: float
    ) -> None:
        super().__init__()
        self.width = bilm.width * len(mixes)
        self.bilm = bilm.requires_grad_(tuned)
        self.mixes = nn.ModuleList(mixes)
        self.dropout = plain(dropout)
        self.tuned = tuned
        self.strength = penalty

    def train(self, mode: bool = True) -> ElmoEmbedding:
        """In training a biLM that is not tuned still drops nothing."""
        super().train(mode)
        self.bilm.train(mode and self.tuned)
        return self

    def forward(self, batch: Batch) -> Tensor:
        """The mixed vectors of the tokens."""
        layers = self.layers(batch)  # (L, B, T, 2P)
        vectors: Tensor = self.dropout(torch.cat([mix(layers) for mix in self.mixes], dim=2))
        return vectors

    def layers(self, batch: Batch) -> Tensor:
        """All layers, as they came with the batch or computed. Shape: (L, B, T, 2P)."""
        if "elmo" in batch:
            kind = next(iter(self.mixes.parameters())).dtype
            return batch["elmo"].to(kind).permute(2, 0, 1, 3)
        with torch.set_grad_enabled(self.tuned and torch.is_grad_enabled()):
            found: Tensor = self.bilm(batch["bytes"], batch["forms"] + MARKS, batch["mask"])
        return found

    def penalty(self) -> Tensor:
        """What is to be added to the loss. Shape: ()."""
        squares = [mix.weights.square().sum() for mix in self.mixes if isinstance(mix, ScalarMix)]
        return self.strength * torch.stack(squares).sum()
