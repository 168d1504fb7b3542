"""Hand-written recurrences and the CRF keep their own precision, whatever autocast is on around them.

Autocast rewrites single operations; inside a loop over time it would mix types between steps and sum
log-probabilities in bfloat16.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Concatenate, ParamSpec, TypeVar

import torch
from torch import Tensor

HALVES = (torch.float16, torch.bfloat16)
P = ParamSpec("P")
R = TypeVar("R")


def widened(x: Tensor) -> Tensor:
    """Numbers in half precision as float32, for sums that need the digits; others as they are."""
    return x.float() if x.dtype in HALVES else x


def full_precision(function: Callable[Concatenate[Tensor, P], R]) -> Callable[Concatenate[Tensor, P], R]:
    """Runs a function of tensors with autocast off on the device of its first argument."""

    @wraps(function)
    def run(first: Tensor, /, *args: P.args, **kwargs: P.kwargs) -> R:
        if not torch.is_autocast_enabled(first.device.type):
            return function(first, *args, **kwargs)
        with torch.autocast(first.device.type, enabled=False):
            return function(first, *args, **kwargs)

    return run
