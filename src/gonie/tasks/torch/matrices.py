"""The squared norm of the matrices of a model's parts, for the L2 penalty."""

from __future__ import annotations

from collections.abc import Iterable

import torch
from torch import Tensor, nn


def squared_norm(parts: Iterable[nn.Module]) -> Tensor:
    """Return ‖W‖² of all matrices of ``parts``, without biases, vectors and transitions. Shape: ()."""
    named = (item for part in parts for item in part.named_parameters())
    chosen = [weight.square().sum() for name, weight in named if _is_matrix(name)]
    return torch.stack(chosen).sum() if chosen else torch.zeros(())


def _is_matrix(name: str) -> bool:
    """Return whether a parameter is a matrix that multiplies the input: ``weight``, ``weight_ih`` …"""
    return name.rpartition(".")[2].startswith("weight")
