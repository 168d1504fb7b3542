"""The role of a matching: what the states of two texts say about each other, as one vector.

Letters: N pairs, T1 and T2 tokens in the longest first and second text, H width of the states, P width of the
vector. Padding is on the right.
"""

from __future__ import annotations

from typing import NamedTuple, Protocol

from torch import Tensor


class Matched(NamedTuple):
    """What a matching gives for N pairs."""

    vectors: Tensor
    """(N, P), one for each pair."""
    first: Tensor
    """(N, T1): how much each token of the first text counts, exactly 0 at padding."""
    second: Tensor
    """(N, T2): the same for the second text."""


class Matching(Protocol):
    """Makes one vector of the states of two texts, and says how much each token counts.

    The contents of padding never matter, nor do the other pairs of a batch. The shares of the tokens of a
    text are at least 0 and sum to 1. A text without any token never makes NaN; shares that would be taken
    from it or given to it are 0.
    """

    input_width: int
    """H, the width of the states taken."""
    width: int
    """P, the width of the vector given."""

    def __call__(self, first: Tensor, second: Tensor, first_mask: Tensor, second_mask: Tensor) -> Matched:
        """States (N, T1, H), (N, T2, H) and masks (N, T1), (N, T2) bool to vectors and shares."""
        ...
