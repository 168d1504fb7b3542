"""Spaces in which heads compare states: squared distances of the states, or of their directions."""

from __future__ import annotations

from typing import Protocol

import torch.nn.functional as F
from torch import Tensor, nn

SHORTEST = 1e-8
"""States shorter than this are divided by it."""


class Space(Protocol):
    """Maps states to the vectors whose squared distances are compared."""

    scale: float
    """The factor of squared distances before a scale is fitted, and in episodes."""

    def __call__(self, states: Tensor) -> Tensor:
        """Return the vectors. Shape: (…, H) -> (…, H)."""
        ...


class Euclidean(nn.Module):
    """The states as they are."""

    scale = 1.0

    def forward(self, states: Tensor) -> Tensor:
        """Return the states. Shape: (…, H) -> (…, H)."""
        return states


class Cosine(nn.Module):
    """The states divided by their length: ‖u − v‖² = 2 − 2 cos(u, v)."""

    scale = 10.0

    def forward(self, states: Tensor) -> Tensor:
        """Return vectors of length 1. Shape: (…, H) -> (…, H)."""
        return F.normalize(states, dim=-1, eps=SHORTEST)
