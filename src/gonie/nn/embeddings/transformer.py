"""Contextual embeddings from a transformer: a learned mix of its layers at the sub-words of each token."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from gonie.nn.dropout import standard_dropout
from gonie.nn.embeddings.layer_mixes import LayerMixes
from gonie.nn.embeddings.scalar_mix import ScalarMix
from gonie.nn.precision import widened
from gonie.nn.protocols import Batch

CACHED = "transformer.context"
"""Name of the precomputed layers in a batch."""


class TransformerEmbedding(nn.Module):
    """x = [mix1(layers); mix2(layers); …] of a transformer's layers, one mix for each place where it is used.

    A layer of a token is the mean of that layer at the sub-words that stand for it (Devlin et al. 2019,
    arXiv:1810.04805, §5.3, with one sub-word), 0 if there is none. The batch has the sub-words in windows,
    ``pieces`` and ``pieces_mask`` (W, L), and the places of each token among them, ``pieces.ids`` (Q,) and
    ``pieces.offsets`` (B·T + 1,). Unless ``tuned``, the transformer is frozen, and the layers of the tokens
    may be precomputed and passed in the batch: ``transformer.context`` (B, T, K, H).

    ``encoder`` maps sub-words and mask to the states of all its layers, as the encoders of the library
    transformers do. ``layers`` are the K layers that are mixed, counted from 0, the input vectors. ``mixes``
    has one mix of K layers per place, by name. ``penalty`` times ‖w‖² of their weights is added to the loss.
    ``rate`` multiplies the learning rate of the top layer of a tuned encoder, and ``layer_rate`` that of each
    layer once more than that of the layer above it. The lowest ``fixed`` layers are not tuned, the first of
    which is the input.

    Shape: (B, T, H · mixes).
    """

    name = "transformer"

    def __init__(
        self,
        *,
        encoder: nn.Module,
        width: int,
        layers: Sequence[int],
        mixes: Mapping[str, ScalarMix],
        tuned: bool,
        dropout: float,
        penalty: float,
        rate: float | None = None,
        layer_rate: float = 1.0,
        fixed: int = 0,
    ) -> None:
        super().__init__()
        self.places = tuple(mixes)
        self.place_width = width
        self.width = width * len(mixes)
        self.encoder = encoder.requires_grad_(tuned)
        self.chosen = tuple(layers)
        self.mixes = LayerMixes(mixes.values())
        self.dropout = standard_dropout(dropout)
        self.tuned = tuned
        self.strength = penalty
        if tuned and rate is not None:
            _set_rates(encoder, rate, layer_rate)
        if tuned and fixed:
            _fix(encoder, fixed)

    def train(self, mode: bool = True) -> TransformerEmbedding:
        """Set the training mode. A frozen encoder stays in evaluation mode, without dropout."""
        super().train(mode)
        self.encoder.train(mode and self.tuned)
        return self

    def forward(self, batch: Batch) -> Tensor:
        """Return the mixed vectors of the tokens."""
        vectors: Tensor = self.dropout(self.mixes(self.layers(batch)))
        return vectors

    def layers(self, batch: Batch) -> Tensor:
        """Return the chosen layers, from the batch or computed. Shape: (K, B, T, H)."""
        if CACHED in batch:
            kind = next(iter(self.mixes.parameters())).dtype
            return batch[CACHED].to(kind).permute(2, 0, 1, 3)
        with torch.set_grad_enabled(self.tuned and torch.is_grad_enabled()):
            states = self.encoder(
                input_ids=batch["pieces"], attention_mask=batch["pieces_mask"], output_hidden_states=True
            ).hidden_states
            chosen = torch.stack([states[layer] for layer in self.chosen], dim=2)  # (W, L, K, H)
            table = widened(chosen.flatten(2).flatten(0, 1))  # (W·L, K·H)
            means = F.embedding_bag(
                batch["pieces.ids"], table, batch["pieces.offsets"], mode="mean", include_last_offset=True
            )  # (B·T, K·H)
            found: Tensor = means.view(*batch["mask"].shape, len(self.chosen), -1).permute(2, 0, 1, 3)
        return found

    def penalty(self) -> Tensor:
        """Return the term to add to the loss. Shape: ()."""
        return self.strength * self.mixes.squares()

    def report(self) -> list[dict[str, Any]]:
        """Return the name, the share of each layer, and the scale of each mix."""
        return self.mixes.report(self.places)


def encoder_blocks(encoder: nn.Module) -> nn.ModuleList:
    """Return the layers of an encoder from the bottom to the top: its first list of parts of one type."""
    lists = (part for part in encoder.modules() if isinstance(part, nn.ModuleList))
    return next((part for part in lists if len({type(own) for own in part}) == 1), nn.ModuleList())


def _set_rates(encoder: nn.Module, rate: float, layer_rate: float) -> None:
    """Give each layer its multiple of the learning rate, and everything below the layers the lowest."""
    blocks = list(encoder_blocks(encoder))
    encoder.rate_scale = rate * layer_rate ** len(blocks)  # type: ignore[assignment]
    for depth, block in enumerate(reversed(blocks)):
        block.rate_scale = rate * layer_rate**depth  # type: ignore[assignment]


def _fix(encoder: nn.Module, number: int) -> None:
    """Turn off the training of the lowest layers, the first of which is everything below the others."""
    blocks = list(encoder_blocks(encoder))
    upper = {id(parameter) for block in blocks[number - 1 :] for parameter in block.parameters()}
    for parameter in encoder.parameters():
        parameter.requires_grad_(id(parameter) in upper)
