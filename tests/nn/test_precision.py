"""Tests the precision helpers: half precision is widened, and autocast is turned off."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor

from gonie.nn.precision import full_precision, widened


@pytest.mark.parametrize(
    ("given", "kept"),
    [
        (torch.float16, torch.float32),
        (torch.bfloat16, torch.float32),
        (torch.float32, torch.float32),
        (torch.float64, torch.float64),
    ],
)
def test_only_half_precision_is_widened(given: torch.dtype, kept: torch.dtype) -> None:
    assert widened(torch.ones(2, dtype=given)).dtype == kept


def test_full_precision_turns_autocast_off() -> None:
    def product(x: Tensor, y: Tensor) -> Tensor:
        return x @ y

    x = torch.randn(3, 3)
    with torch.autocast("cpu", dtype=torch.bfloat16):
        assert product(x, x).dtype == torch.bfloat16
        assert full_precision(product)(x, x).dtype == torch.float32
