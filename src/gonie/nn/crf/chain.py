"""The parameters of a linear chain, as one value for the layer, the engines and the decoder."""

from __future__ import annotations

from typing import NamedTuple

from torch import Tensor


class Chain(NamedTuple):
    """Scores of tag pairs and of a sentence's first and last tag, in log space and not normalised."""

    transitions: Tensor
    """(K, K), indexed [from, to]."""
    start: Tensor
    """(K,)"""
    end: Tensor
    """(K,)"""
