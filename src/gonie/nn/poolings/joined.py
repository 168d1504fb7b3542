"""Several poolings side by side: what attention, the mean and the maximum see are not the same things."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor, nn

from gonie.errors import InputError
from gonie.nn.protocols import Pooling, as_modules


class Joined(nn.Module):
    """c = [part1; part2; …], the parts in the order given; a token's weight is the mean over the parts.

    Shape: (B, T, H) -> (B, sum of the parts' widths) and (B, T).
    """

    def __init__(self, parts: Sequence[Pooling]) -> None:
        super().__init__()
        if not parts:
            raise InputError(expected="at least one pooling", got="none")
        widths = [part.input_width for part in parts]
        if len(set(widths)) > 1:
            raise InputError(expected="poolings that take states of one width", got=f"{widths}")
        self.input_width = widths[0]
        self.width = sum(part.width for part in parts)
        self.parts = nn.ModuleList(as_modules(parts))

    def forward(self, x: Tensor, mask: Tensor) -> tuple[Tensor, Tensor]:
        """The parts' vectors, concatenated, and the tokens' weights."""
        vectors, weights = zip(*(part(x, mask) for part in self.parts), strict=True)
        return torch.cat(vectors, dim=1), torch.stack(weights).mean(0)
