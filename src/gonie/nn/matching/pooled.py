"""Matching after pooling: each text becomes a vector, and the two vectors are compared."""

from __future__ import annotations

from torch import Tensor, nn

from gonie.nn.matching.comparison import HeuristicMatching
from gonie.nn.matching.protocol import Matched
from gonie.nn.protocols import Pooling, as_modules


class PooledMatching(nn.Module):
    """[u; v; |u − v|; u ∘ v] of u = pooling(a) and v = pooling(b), with one pooling for both texts.

    The siamese network of Conneau et al. 2017 (arXiv:1705.02364). The vector of a text does not depend on the
    other text, so it can be computed once and compared with many others. The shares of the tokens are their
    pooling weights.

    Shape: (N, T1, H), (N, T2, H), masks (N, T1), (N, T2) -> vectors (N, 4 * pooling.width).
    """

    def __init__(self, *, pooling: Pooling) -> None:
        super().__init__()
        as_modules([pooling])
        self.pooling = pooling
        self.comparison = HeuristicMatching(width=pooling.width)
        self.input_width = pooling.input_width
        self.width = self.comparison.width

    def forward(self, first: Tensor, second: Tensor, first_mask: Tensor, second_mask: Tensor) -> Matched:
        """Return the vectors of the pairs, and the shares of the tokens."""
        one, first_shares = self.pooling(first, first_mask)  # (N, P), (N, T1)
        two, second_shares = self.pooling(second, second_mask)  # (N, P), (N, T2)
        return Matched(self.comparison(one, two), first_shares, second_shares)
