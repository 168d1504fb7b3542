"""The matrices of a model's parts, as a penalty on large weights sees them."""

from __future__ import annotations

from collections.abc import Iterable

import torch
from torch import Tensor, nn


def squared_norm(parts: Iterable[nn.Module]) -> Tensor:
    """‖W‖² of all matrices of ``parts``, not of biases, vectors and moves; 0 without any. Shape: ()."""
    named = (item for part in parts for item in part.named_parameters())
    chosen = [weight.square().sum() for name, weight in named if _is_matrix(name)]
    return torch.stack(chosen).sum() if chosen else torch.zeros(())


def _is_matrix(name: str) -> bool:
    """Whether a parameter is what its part multiplies its input by: parts call it weight, weight_ih …"""
    return name.rpartition(".")[2].startswith("weight")
