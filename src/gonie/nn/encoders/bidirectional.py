"""Both directions from two one-way layers: any layer becomes bidirectional without knowing it."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from gonie.errors import InputError
from gonie.nn.protocols import Encoder
from gonie.nn.reverse import reversal, reverse


class Bidirectional(nn.Module):
    """h[t] = [ahead(x)[t]; back(reversed x)[t, reversed back]]: Schuster & Paliwal 1997.

    ``back`` runs on each sentence reversed within its length, so it starts at the true last token.
    Shape: (B, T, D) -> (B, T, ahead.width + back.width).
    """

    def __init__(self, *, ahead: Encoder, back: Encoder) -> None:
        super().__init__()
        if ahead.input_width != back.input_width:
            raise InputError(
                expected=f"both directions to take vectors of one width, as ahead does ({ahead.input_width})",
                got=f"{back.input_width} for back",
            )
        self.input_width = ahead.input_width
        self.width = ahead.width + back.width
        self.ahead = ahead
        self.back = back

    def forward(self, x: Tensor, mask: Tensor) -> Tensor:
        """States of both directions side by side, zero at padding."""
        order = reversal(mask)  # (B, T)
        behind = reverse(self.back(reverse(x, order), mask), order)
        return torch.cat([self.ahead(x, mask), behind], dim=2)
