"""Bidirectional encoder from two one-way layers."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from gonie.errors import InputError
from gonie.nn.encoders.lstm import LSTM, run_lstm_cpu, supports_lstm_cpu
from gonie.nn.protocols import Encoder
from gonie.nn.reverse import reversal, reverse


class Bidirectional(nn.Module):
    """h[t] = [ahead(x)[t]; back(reversed x)[t, reversed back]]: Schuster & Paliwal 1997.

    ``back`` runs on each sentence reversed within its length, so it starts at the true last token. Two LSTM
    layers of the same size run at the same time if the compiled loops support them.
    Shape: (B, T, D) -> (B, T, ahead.width + back.width).
    """

    def __init__(self, *, ahead: Encoder, back: Encoder) -> None:
        super().__init__()
        if ahead.input_width != back.input_width:
            raise InputError(
                f"both directions must take the same width: {ahead.input_width} ahead, "
                f"{back.input_width} back"
            )
        self.input_width = ahead.input_width
        self.width = ahead.width + back.width
        self.ahead = ahead
        self.back = back

    def forward(self, x: Tensor, mask: Tensor) -> Tensor:
        """Return the states of both directions side by side, zero at padding."""
        ahead, back = self.ahead, self.back
        if (
            isinstance(ahead, LSTM)
            and isinstance(back, LSTM)
            and ahead.width == back.width
            and supports_lstm_cpu(x)
        ):
            return run_lstm_cpu(x, mask, ahead, back)
        order = reversal(mask)  # (B, T)
        behind = reverse(back(reverse(x, order), mask), order)
        return torch.cat([ahead(x, mask), behind], dim=2)
