"""Vectors in context: the layers of a bidirectional language model, mixed as the task needs them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import torch
from torch import Tensor, nn

from gonie.nn.bilm.bilm import BiLM
from gonie.nn.dropout import plain
from gonie.nn.embeddings.scalar_mix import ScalarMix
from gonie.nn.protocols import Batch

CACHED = "elmo.context"
"""The name of the biLM's layers in a batch, where they were computed once for a corpus."""
MARKS = 2
"""Rows of ``bytes`` before those of the batch's words: a sentence's beginning and its end."""


class ElmoEmbedding(nn.Module):
    """x = [mix1(layers); mix2(layers); …] of a biLM's layers, one mix for each place where it is used.

    Peters et al. 2018 (arXiv:1802.05365) §3.2. Unless ``tuned``, the biLM stays as it is, and its vectors may
    come with the batch, computed once: ``elmo.context`` (B, T, L, 2P). Else they are computed from the
    ``bytes`` (2 + U, C) of the batch's distinct words, to which ``forms`` (B, T) point, after two rows for
    the marks of a sentence's beginning and end.

    ``mixes`` has one mix for each place, by its name. ``penalty`` times ‖w‖² of their weights is to be added
    to the loss: it pulls them to the plain mean. ``rate`` is the multiple of the learning rate by which a
    tuned biLM learns.

    Shape: (B, T, 2P · mixes).
    """

    kinks = True  # of the character network
    name = "elmo"

    def __init__(
        self,
        *,
        bilm: BiLM,
        mixes: Mapping[str, ScalarMix],
        tuned: bool,
        dropout: float,
        penalty: float,
        rate: float | None = None,
    ) -> None:
        super().__init__()
        self.places = tuple(mixes)
        self.place_width = bilm.width
        self.width = bilm.width * len(mixes)
        self.bilm = bilm.requires_grad_(tuned)
        if tuned and rate is not None:
            self.bilm.rate_scale = rate  # type: ignore[assignment]
        self.mixes = nn.ModuleList(mixes.values())
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
        if CACHED in batch:
            kind = next(iter(self.mixes.parameters())).dtype
            return batch[CACHED].to(kind).permute(2, 0, 1, 3)
        with torch.set_grad_enabled(self.tuned and torch.is_grad_enabled()):
            found: Tensor = self.bilm(batch["bytes"], batch["forms"] + MARKS, batch["mask"])
        return found

    def penalty(self) -> Tensor:
        """What is to be added to the loss. Shape: ()."""
        squares = [mix.weights.square().sum() for mix in self.mixes if isinstance(mix, ScalarMix)]
        return self.strength * torch.stack(squares).sum()

    def report(self) -> list[dict[str, Any]]:
        """How each place mixes the layers: its name, the share of each layer, and the scale."""
        mixes = [mix for mix in self.mixes if isinstance(mix, ScalarMix)]
        return [
            {
                "place": place,
                "shares": mix.shares().tolist(),
                "scale": mix.scale.item(),
                "normalized": mix.normalize,
            }
            for place, mix in zip(self.places, mixes, strict=True)
        ]
