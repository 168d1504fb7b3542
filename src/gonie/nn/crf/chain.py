"""The parameters of a linear chain, and the constraints on its paths, each as one value."""

from __future__ import annotations

from typing import NamedTuple

import torch
from torch import Tensor

from gonie.errors import InputError


class Chain(NamedTuple):
    """Scores of tag pairs and of a sentence's first and last tag, in log space and not normalised."""

    transitions: Tensor
    """(K, K), indexed [from, to]."""
    start: Tensor
    """(K,)"""
    end: Tensor
    """(K,)"""


class Constraints(NamedTuple):
    """Which transitions, first tags and last tags are allowed. All bool."""

    transitions: Tensor
    """(K, K), indexed [from, to]."""
    start: Tensor
    """(K,)"""
    end: Tensor
    """(K,)"""

    def applied_to(self, chain: Chain) -> Chain:
        """Return the chain with -inf for everything that is not allowed."""
        return Chain(
            *(part.masked_fill(~allowed, -torch.inf) for part, allowed in zip(chain, self, strict=True))
        )

    def as_chain(self, dtype: torch.dtype) -> Chain:
        """Return a chain that scores 0 what is allowed and -inf what is not."""
        return self.applied_to(Chain(*(torch.zeros_like(allowed, dtype=dtype) for allowed in self)))


def checked(constraints: Constraints, num_tags: int) -> Constraints:
    """Return the constraints for K tags, or raise an error if types or shapes are wrong."""
    shapes = ((num_tags, num_tags), (num_tags,), (num_tags,))
    for name, allowed, shape in zip(Constraints._fields, constraints, shapes, strict=True):
        if allowed.dtype != torch.bool or allowed.shape != shape:
            raise InputError(
                f"expected allowed {name} as bool of shape {shape}, got {allowed.dtype} of shape "
                f"{tuple(allowed.shape)}"
            )
    return constraints
