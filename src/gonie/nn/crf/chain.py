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
    """True where a move, a first tag or a last tag is possible. All bool."""

    transitions: Tensor
    """(K, K), indexed [from, to]."""
    start: Tensor
    """(K,)"""
    end: Tensor
    """(K,)"""

    def on(self, chain: Chain) -> Chain:
        """Return the chain with -inf for everything impossible."""
        return Chain(
            *(part.masked_fill(~allowed, -torch.inf) for part, allowed in zip(chain, self, strict=True))
        )

    def alone(self, like: Tensor) -> Chain:
        """Return the chain of the constraints alone: 0 where possible and -inf where not."""
        return self.on(Chain(*(torch.zeros_like(allowed, dtype=like.dtype) for allowed in self)))


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
