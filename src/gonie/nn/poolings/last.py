"""Pooling by the final state of a recurrent layer."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from gonie.errors import InputError
from gonie.nn.poolings.weights import precision_of


class Last(nn.Module):
    """c = h[T - 1]; for states of two directions, [ahead; back], c = [ahead[T - 1]; back[0]].

    The backward direction has read the whole row at its first token. With ``both_ways``, each half is
    therefore taken at its own end, and the first and the last token have weight ½ each.

    Shape: (B, T, width) -> (B, width) and (B, T).
    """

    def __init__(self, *, width: int, both_ways: bool = False) -> None:
        super().__init__()
        if both_ways and width % 2:
            raise InputError(f"width must be even with both_ways, half for each direction: {width}")
        self.input_width = width
        self.width = width
        self.both_ways = both_ways

    def forward(self, x: Tensor, mask: Tensor) -> tuple[Tensor, Tensor]:
        """Return the vectors, and the weights of the tokens."""
        at = torch.arange(mask.shape[1], device=mask.device)  # (T,)
        last = at == mask.sum(1, keepdim=True) - 1  # (B, T)
        if not self.both_ways:
            return _only(x, last), last.to(precision_of(x))
        first = mask & (at == 0)
        ahead, back = x.chunk(2, dim=2)  # (B, T, H / 2) each
        ends = torch.stack([last, first]).to(precision_of(x))  # (2, B, T)
        return torch.cat([_only(ahead, last), _only(back, first)], dim=1), ends.mean(0)

    def extra_repr(self) -> str:
        """Return whether states have two directions."""
        return f"both_ways={self.both_ways}"


def _only(x: Tensor, chosen: Tensor) -> Tensor:
    """Return the states at the chosen token of each row, 0 if there is none. Shape: (B, T, H) -> (B, H)."""
    return x.where(chosen.unsqueeze(2), 0.0).sum(1)
