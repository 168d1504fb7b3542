"""Word vectors from UTF-8 bytes: the lowest, context-independent layer of a language model."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from gonie.errors import InputError
from gonie.nn.bilm.highway import Highway
from gonie.nn.initial import glorot_

BYTES = 262
"""Ids of ``gonie.features.byte_spelling``: 0 for no byte, then 256 bytes and five marks."""


class Filters(NamedTuple):
    """The number of filters of one kernel size, in bytes."""

    kernel: int
    number: int


class SpelledWords(nn.Module):
    """v = P highway(relu(max over positions of the filters over the word's bytes)) + p.

    Kim et al. 2016 (arXiv:1508.06615) as used by Peters et al. 2018 (arXiv:1802.05365): filters of several
    kernel sizes over byte vectors, their maximum, then ReLU, highway layers and a projection. Padding is a
    mark with a vector of its own. Windows entirely over padding are all equal, so rows of short words may be
    cut after one of them.

    ``widest`` is the largest kernel. Shape: ``chars`` (U, C) ids of bytes -> (U, width).
    """

    kinks = True  # where the maximum changes position, and at 0

    def __init__(self, *, byte_width: int, filters: Sequence[Filters], highways: int, width: int) -> None:
        super().__init__()
        if not filters:
            raise InputError("no filters", fix="Pass at least one kernel size")
        self.width = width
        self.widest = max(kernel for kernel, _ in filters)
        self.bytes = nn.Embedding(BYTES, byte_width, padding_idx=0)
        self.convolutions = nn.ModuleList(nn.Conv1d(byte_width, number, kernel) for kernel, number in filters)
        total = sum(number for _, number in filters)
        self.highways = nn.ModuleList(Highway(width=total) for _ in range(highways))
        self.projection = nn.Linear(total, width)
        self.reset_parameters()

    @torch.no_grad()
    def reset_parameters(self) -> None:
        """Initialise the weights: bytes uniform on ±1, filters on ±0.05 as in the paper's code, P Glorot."""
        nn.init.uniform_(self.bytes.weight, -1.0, 1.0)
        self.bytes.weight[0].zero_()
        for convolution in self.convolutions:
            weight, bias = convolution.parameters()
            nn.init.uniform_(weight, -0.05, 0.05)
            nn.init.zeros_(bias)
        glorot_(self.projection.weight)
        nn.init.zeros_(self.projection.bias)

    def forward(self, chars: Tensor) -> Tensor:
        """Return the vectors of distinct words."""
        vectors = self.bytes(chars)  # (U, C, byte width)
        found = [_largest(convolution, vectors) for convolution in self.convolutions]  # (U, number) each
        x = F.relu(torch.cat(found, dim=1))
        for highway in self.highways:
            x = highway(x)
        projected: Tensor = self.projection(x)
        return projected


def _largest(convolution: nn.Module, vectors: Tensor) -> Tensor:
    """Return the maximum of each filter over all positions: (U, C, D) -> (U, number).

    This is one matrix product over unfolded windows. With few channels and many short words, it is several
    times faster than a convolution.
    """
    weight, bias = convolution.parameters()  # (number, D, kernel), (number,)
    windows = vectors.unfold(1, weight.shape[2], 1).flatten(2)  # (U, places, D * kernel)
    found = F.linear(windows, weight.flatten(1), bias)  # (U, places, number)
    return found.max(1).values  # (U, number)
