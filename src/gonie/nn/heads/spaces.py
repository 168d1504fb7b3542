"""Spaces in which heads compare states: squared distances of the states, of their directions, or scaled."""

from __future__ import annotations

import math
from typing import Protocol

import torch
import torch.nn.functional as F
from torch import Tensor, nn

SHORTEST = 1e-8
"""States shorter than this are divided by it."""
SHRINKAGE = 0.2
"""The share of a multiple of the identity in the covariance of ``Mahalanobis``."""


class Space(Protocol):
    """Maps states to the vectors whose squared distances are compared."""

    scale: float
    """The factor of squared distances before a scale is fitted, and in episodes."""

    def __call__(self, states: Tensor) -> Tensor:
        """Return the vectors. Shape: (…, H) -> (…, H)."""
        ...

    def unfitted(self, states: Tensor) -> Tensor:
        """Return the vectors in an episode, where nothing is fitted. Shape: (…, H) -> (…, H)."""
        ...

    def mean(self, vectors: Tensor) -> Tensor:
        """Return means of vectors as vectors of the space. Shape: (…, H) -> (…, H)."""
        ...

    def fit(self, states: Tensor, tags: Tensor) -> None:
        """Fit the space to support states (n, H) with tags (n,)."""
        ...


class Euclidean(nn.Module):
    """The states as they are."""

    scale = 1.0

    def forward(self, states: Tensor) -> Tensor:
        """Return the states. Shape: (…, H) -> (…, H)."""
        return states

    def unfitted(self, states: Tensor) -> Tensor:
        """Return the states. Shape: (…, H) -> (…, H)."""
        return states

    def mean(self, vectors: Tensor) -> Tensor:
        """Return the means. Shape: (…, H) -> (…, H)."""
        return vectors

    def fit(self, states: Tensor, tags: Tensor) -> None:
        """Do nothing."""


class Cosine(nn.Module):
    """The states divided by their length: ‖u − v‖² = 2 − 2 cos(u, v). So are their means."""

    scale = 10.0

    def forward(self, states: Tensor) -> Tensor:
        """Return vectors of length 1. Shape: (…, H) -> (…, H)."""
        return F.normalize(states, dim=-1, eps=SHORTEST)

    def unfitted(self, states: Tensor) -> Tensor:
        """Return vectors of length 1. Shape: (…, H) -> (…, H)."""
        return F.normalize(states, dim=-1, eps=SHORTEST)

    def mean(self, vectors: Tensor) -> Tensor:
        """Return the means with length 1. Shape: (…, H) -> (…, H)."""
        return F.normalize(vectors, dim=-1, eps=SHORTEST)

    def fit(self, states: Tensor, tags: Tensor) -> None:
        """Do nothing."""


class Mahalanobis(nn.Module):
    """Directions u scaled by the spread within tags: ‖A u − A v‖² = (u − v)ᵀ Σ⁻¹ (u − v), AᵀA = Σ⁻¹.

    Σ is the mean covariance of the support directions around the mean of their tag, shrunk towards a multiple
    of the identity: (1 − γ) Σ + γ (tr Σ / H) I. With it, prototypes are linear discriminant analysis.
    Features in which tokens of one tag differ count less. ``matrix`` (H, H) is A.
    """

    scale = 0.5
    matrix: Tensor

    def __init__(self, *, width: int) -> None:
        super().__init__()
        self.register_buffer("matrix", torch.eye(width))

    def forward(self, states: Tensor) -> Tensor:
        """Return the scaled directions. Shape: (…, H) -> (…, H)."""
        return F.linear(F.normalize(states, dim=-1, eps=SHORTEST), self.matrix)

    def unfitted(self, states: Tensor) -> Tensor:
        """Return vectors of length √20, so that their distances are those of ``Cosine``.

        Shape: (…, H) -> (…, H).
        """
        length = math.sqrt(Cosine.scale / self.scale)
        return F.normalize(states, dim=-1, eps=SHORTEST) * length

    def mean(self, vectors: Tensor) -> Tensor:
        """Return the means. Shape: (…, H) -> (…, H)."""
        return vectors

    @torch.no_grad()
    def fit(self, states: Tensor, tags: Tensor) -> None:
        """Fit the covariance to support states (n, H) with tags (n,)."""
        units = F.normalize(states.double(), dim=-1, eps=SHORTEST)  # (n, H)
        members = F.one_hot(tags).double()  # (n, K)
        means = members.T @ units / members.sum(0).clamp(min=1.0)[:, None]  # (K, H)
        rest = units - means[tags]
        covariance = rest.T @ rest / len(rest)  # (H, H)
        size = covariance.diagonal().mean().clamp(min=SHORTEST)
        identity = torch.eye(len(covariance), dtype=torch.float64, device=states.device)
        factor = torch.linalg.cholesky((1 - SHRINKAGE) * covariance + SHRINKAGE * size * identity)
        self.matrix.copy_(torch.linalg.solve_triangular(factor, identity, upper=False))
