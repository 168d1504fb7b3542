"""Matching before pooling (ESIM): each token is compared with its soft alignment in the other text."""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from gonie.errors import InputError
from gonie.nn.matching.co_attention import CoAttention
from gonie.nn.matching.comparison import HeuristicMatching
from gonie.nn.matching.enhancement import Enhancement
from gonie.nn.matching.projection import Projection
from gonie.nn.matching.protocol import Matched
from gonie.nn.protocols import Encoder, Pooling, as_modules


class AlignedMatching(nn.Module):
    """The upper layers of ESIM over the states a, b of two texts: Chen et al. 2017 (arXiv:1609.06038), §3.

    ã, b̃ = co-attention(a, b);  m = projection([a; ã; a − ã; a ∘ ã]), and likewise for b;
    u = pooling(composition(m)), v likewise;  [u; v; |u − v|; u ∘ v].

    Both texts share projection, composition and pooling. In the paper, the composition is a BiLSTM, the
    pooling is mean and maximum, and the output is only [u; v]. ``dropout`` is applied to the input of the
    composition. The shares are the attention that a token receives from the other text.

    Shape: (N, T1, H), (N, T2, H), masks (N, T1), (N, T2) -> vectors (N, 4 * pooling.width).
    """

    def __init__(
        self,
        *,
        projection: Projection,
        composition: Encoder,
        pooling: Pooling,
        dropout: nn.Module | None = None,
    ) -> None:
        super().__init__()
        as_modules([composition, pooling])
        if projection.input_width % 4:
            raise InputError(
                "expected a projection of [a; ã; a − ã; a ∘ ã], whose width is a multiple of 4, got "
                f"{projection.input_width}"
            )
        _check_widths("composition", projection.width, composition.input_width)
        _check_widths("pooling", composition.width, pooling.input_width)
        self.input_width = projection.input_width // 4
        self.attention = CoAttention()
        self.enhancement = Enhancement(width=self.input_width)
        self.projection = projection
        self.dropout = dropout or nn.Identity()
        self.composition = composition
        self.pooling = pooling
        self.comparison = HeuristicMatching(width=pooling.width)
        self.width = self.comparison.width

    def forward(self, first: Tensor, second: Tensor, first_mask: Tensor, second_mask: Tensor) -> Matched:
        """Return the vectors of the pairs, and the attention that each token receives from the other text."""
        found = self.attention(first, second, first_mask, second_mask)
        mask = _rows(first_mask, second_mask)  # (2N, T), T the larger of T1 and T2
        states = _rows(first, second).masked_fill(~mask.unsqueeze(2), 0.0)  # (2N, T, H)
        enhanced = self.enhancement(states, _rows(found.first, found.second))  # (2N, T, 4H)
        composed = self.composition(self.dropout(self.projection(enhanced)), mask)
        vectors, _ = self.pooling(composed, mask)  # (2N, P)
        one, two = vectors.chunk(2)
        return Matched(self.comparison(one, two), found.first_shares, found.second_shares)


def _rows(first: Tensor, second: Tensor) -> Tensor:
    """Stack the first and the second texts as rows of one batch.

    Shape: (N, T1, …), (N, T2, …) -> (2N, T, …).
    """
    longest = max(first.shape[1], second.shape[1])
    return torch.cat([_padded(first, longest), _padded(second, longest)])


def _padded(x: Tensor, length: int) -> Tensor:
    """Pad ``x`` on the right with zeros or False. Shape: (N, T, …) -> (N, length, …)."""
    missing = length - x.shape[1]
    return F.pad(x, (*[0, 0] * (x.dim() - 2), 0, missing)) if missing else x


def _check_widths(name: str, given: int, taken: int) -> None:
    if given != taken:
        raise InputError(f"expected a {name} that takes width {given}, got one that takes {taken}")
