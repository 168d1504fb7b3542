"""Mixed precision, with full precision for recurrences and the CRF.

Autocast rewrites single operations. Inside a loop over time it would mix types between steps and sum
log-probabilities in bfloat16.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from functools import wraps
from typing import Concatenate, ParamSpec, TypeVar

import torch
from torch import Tensor

HALVES = (torch.float16, torch.bfloat16)
P = ParamSpec("P")
R = TypeVar("R")


def widened(x: Tensor) -> Tensor:
    """Convert half precision to float32, for sums that need the digits. Other types stay unchanged."""
    return x.float() if x.dtype in HALVES else x


def full_precision(function: Callable[Concatenate[Tensor, P], R]) -> Callable[Concatenate[Tensor, P], R]:
    """Wrap a function of tensors to run with autocast off on the device of its first argument."""

    @wraps(function)
    def run(first: Tensor, /, *args: P.args, **kwargs: P.kwargs) -> R:
        if not torch.is_autocast_enabled(first.device.type):
            return function(first, *args, **kwargs)
        with torch.autocast(first.device.type, enabled=False):
            return function(first, *args, **kwargs)

    return run


def autocast(precision: str, device: torch.device) -> AbstractContextManager[object]:
    """Return autocast to bfloat16 if ``precision`` is ``bf16`` and the device is a GPU."""
    if precision == "bf16" and device.type == "cuda":
        return torch.autocast("cuda", dtype=torch.bfloat16)
    return nullcontext()
