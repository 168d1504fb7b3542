"""Scalar mixes of the layers of a pretrained network, one for each place where its vectors are used."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, cast

import torch
from torch import Tensor, nn

from gonie.nn.embeddings.scalar_mix import ScalarMix


class LayerMixes(nn.ModuleList):
    """[mix1(layers); mix2(layers); …]: (L, B, T, D) -> (B, T, D · mixes)."""

    def forward(self, layers: Tensor) -> Tensor:
        """Return the mixed layers."""
        return torch.cat([mix(layers) for mix in self], dim=2)

    def each(self) -> Iterator[ScalarMix]:
        """Return the mixes."""
        return iter(cast("list[ScalarMix]", list(self)))

    def squares(self) -> Tensor:
        """Return ‖w‖² of the weights of all mixes. Shape: ()."""
        return torch.stack([mix.weights.square().sum() for mix in self.each()]).sum()

    def report(self, places: Iterable[str]) -> list[dict[str, Any]]:
        """Return the name of each place, with the share of each layer there and the scale."""
        return [
            {
                "place": place,
                "shares": mix.shares().tolist(),
                "scale": mix.scale.item(),
                "normalized": mix.normalize,
            }
            for place, mix in zip(places, self.each(), strict=True)
        ]
