"""Contextual embeddings (ELMo): a learned mix of the layers of a bidirectional language model."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import torch
from torch import Tensor, nn

from gonie.nn.bilm.bilm import BiLM
from gonie.nn.dropout import standard_dropout
from gonie.nn.embeddings.layer_mixes import LayerMixes
from gonie.nn.embeddings.scalar_mix import ScalarMix
from gonie.nn.protocols import Batch

CACHED = "elmo.context"
"""Name of the precomputed biLM layers in a batch."""
MARKS = 2
"""Rows of ``bytes`` before those of the batch's words: the begin and the end of a sentence."""


class ElmoEmbedding(nn.Module):
    """x = [mix1(layers); mix2(layers); …] of a biLM's layers, one mix for each place where it is used.

    Peters et al. 2018 (arXiv:1802.05365) §3.2. Unless ``tuned``, the biLM is frozen, and its layers may be
    precomputed and passed in the batch: ``elmo.context`` (B, T, L, 2P). Otherwise they are computed from the
    ``bytes`` (2 + U, C) of the batch's distinct words, indexed by ``forms`` (B, T). The first two rows are
    the marks of the sentence begin and end.

    ``mixes`` has one mix per place, by name. ``penalty`` times ‖w‖² of their weights is added to the loss,
    which pulls them towards the plain mean. ``rate`` multiplies the learning rate of a tuned biLM.

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
        self.mixes = LayerMixes(mixes.values())
        self.dropout = standard_dropout(dropout)
        self.tuned = tuned
        self.strength = penalty

    def train(self, mode: bool = True) -> ElmoEmbedding:
        """Set the training mode. A frozen biLM stays in evaluation mode, without dropout."""
        super().train(mode)
        self.bilm.train(mode and self.tuned)
        return self

    def forward(self, batch: Batch) -> Tensor:
        """Return the mixed vectors of the tokens."""
        vectors: Tensor = self.dropout(self.mixes(self.layers(batch)))
        return vectors

    def layers(self, batch: Batch) -> Tensor:
        """Return all layers, from the batch or computed. Shape: (L, B, T, 2P)."""
        if CACHED in batch:
            kind = next(iter(self.mixes.parameters())).dtype
            return batch[CACHED].to(kind).permute(2, 0, 1, 3)
        with torch.set_grad_enabled(self.tuned and torch.is_grad_enabled()):
            found: Tensor = self.bilm(batch["bytes"], batch["forms"] + MARKS, batch["mask"])
        return found

    def penalty(self) -> Tensor:
        """Return the term to add to the loss. Shape: ()."""
        return self.strength * self.mixes.squares()

    def report(self) -> list[dict[str, Any]]:
        """Return the name, the share of each layer, and the scale of each mix."""
        return self.mixes.report(self.places)
