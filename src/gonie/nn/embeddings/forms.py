"""Distinct word forms as padded rows of characters, processed in groups of similar length.

One web address in a batch makes every row as long as itself. On UD English EWT with 32 sentences per batch,
rows are on average 3.7 times as long as their forms. In groups of similar length they are 1.5 times as long,
and the run takes half the time.
"""

from __future__ import annotations

from collections.abc import Callable

import torch
import torch.nn.functional as F
from torch import Tensor

STARTING_COST = 600
"""Cost of another run, in characters of padding that it must save to be worthwhile."""


def real_characters(chars: Tensor, lengths: Tensor) -> Tensor:
    """Return True where a row holds a character of its form. Shape: (U, C), (U,) -> (U, C) bool."""
    return torch.arange(chars.shape[1], device=chars.device) < lengths.unsqueeze(1)


def spell_by_length(spell: Callable[[Tensor, Tensor], Tensor], chars: Tensor, lengths: Tensor) -> Tensor:
    """Return the same as ``spell(chars, lengths)``, computed in groups on a CPU.

    On a GPU one padded run is faster than reading the lengths from the device.
    Shape: ``chars`` (U, C), ``lengths`` (U,) -> (U, D).
    """
    if not lengths.is_cpu:
        return spell(chars, lengths)
    ordered, order = lengths.sort(stable=True)  # (U,) each
    parts, start = [], 0
    for end in _group_ends(ordered):
        rows = order[start:end]
        parts.append(spell(chars[rows, : int(ordered[end - 1])], ordered[start:end]))
        start = end
    return F.embedding(order.argsort(), torch.cat(parts))  # back in the original order


def _group_ends(ordered: Tensor) -> list[int]:
    """Return where each group ends in ascending lengths (U,).

    Groups are split where this saves the most padding, as long as it is worthwhile.
    """
    places = torch.arange(1, len(ordered) + 1)
    saved = places * (ordered[-1] - ordered)  # (U,) padding that a cut after each form would save
    best = int(saved.argmax())
    if int(saved[best]) <= STARTING_COST:
        return [len(ordered)]
    below, above = _group_ends(ordered[: best + 1]), _group_ends(ordered[best + 1 :])
    return [*below, *(best + 1 + end for end in above)]
