"""The parameters of a linear chain, as one value that the layer, its scans and the decoder pass on."""

from __future__ import annotations

from typing import NamedTuple

from torch import Tensor


class Chain(NamedTuple):
    """Scores of tag pairs and of a sentence's first and last tag; all in log space, none normalised."""

    transitions: Tensor
    """(K, K), indexed [from, to]."""
    start: Tensor
    """(K,)"""
    end: Tensor
    """(K,)"""
