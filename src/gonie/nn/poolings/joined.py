"""Concatenation of several poolings, such as attention, mean and maximum."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor, nn

from gonie.errors import InputError
from gonie.nn.protocols import Pooling, as_modules


class Joined(nn.Module):
    """c = [part1; part2; …], in the given order. A token's weight is the mean over the parts.

    Shape: (B, T, H) -> (B, sum of the parts' widths) and (B, T).
    """

    def __init__(self, parts: Sequence[Pooling]) -> None:
        super().__init__()
        if not parts:
            raise InputError("no poolings", fix="Pass at least one")
        widths = [part.input_width for part in parts]
        if len(set(widths)) > 1:
            raise InputError(f"poolings must take states of the same width: {widths}")
        self.input_width = widths[0]
        self.width = sum(part.width for part in parts)
        self.parts = nn.ModuleList(as_modules(parts))

    def forward(self, x: Tensor, mask: Tensor) -> tuple[Tensor, Tensor]:
        """Return the concatenated vectors, and the weights of the tokens."""
        vectors, weights = zip(*(part(x, mask) for part in self.parts), strict=True)
        return torch.cat(vectors, dim=1), torch.stack(weights).mean(0)
