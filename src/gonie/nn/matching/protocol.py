"""Interface of a matching: one vector for the states of two texts.

Letters: N pairs, T1 and T2 tokens in the longest first and second text, H width of the states, P width of the
vector. Padding is on the right.
"""

from __future__ import annotations

from typing import NamedTuple, Protocol

from torch import Tensor


class Matched(NamedTuple):
    """The result of a matching for N pairs."""

    vectors: Tensor
    """(N, P), one for each pair."""
    first: Tensor
    """(N, T1): the share of each token of the first text, exactly 0 at padding."""
    second: Tensor
    """(N, T2): the same for the second text."""


class Matching(Protocol):
    """Combine the states of two texts into one vector, and compute the share of each token.

    The result does not depend on padding or on the other pairs of a batch. The shares of the tokens of a text
    are at least 0 and sum to 1. A text without tokens never produces NaN. Its shares, and the shares that it
    would give to the other text, are 0.
    """

    input_width: int
    """H, the width of the input states."""
    width: int
    """P, the width of the output vector."""

    def __call__(self, first: Tensor, second: Tensor, first_mask: Tensor, second_mask: Tensor) -> Matched:
        """Map states (N, T1, H), (N, T2, H) and masks (N, T1), (N, T2) bool to vectors and shares."""
        ...
