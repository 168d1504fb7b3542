"""Character CNN: word vectors from a convolution over characters."""

from __future__ import annotations

from typing import ClassVar

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from gonie.nn.dropout import standard_dropout
from gonie.nn.embeddings.forms import real_characters, spell_by_length
from gonie.nn.initial import embedding_
from gonie.nn.protocols import Batch


class CharCNN(nn.Module):
    """v(form) = max over its characters c of (W [e[c - k/2]; …; e[c + k/2]] + b), e = 0 outside the form.

    Ma & Hovy 2016 (arXiv:1603.01354) §2.1, with 30 filters of kernel 3 on vectors of width 30 and dropout on
    the vectors. Windows are centred on the form's own characters, so its vector depends on nothing else in
    the batch. Each distinct form is computed once and looked up by ``forms``.

    Shape: ``chars`` (U, C), ``char_lengths`` (U,), ``forms`` (B, T) -> (B, T, filters).
    """

    kinks = True  # where the maximum changes position
    indexed: ClassVar = {"characters.weight": ("chars",)}

    def __init__(self, *, size: int, width: int, filters: int, kernel: int, dropout: float) -> None:
        super().__init__()
        self.width = filters
        self.characters = nn.Embedding(size, width, padding_idx=0)
        self.dropout = standard_dropout(dropout)
        self.convolution = nn.Conv1d(width, filters, kernel)
        self.margins = ((kernel - 1) // 2, kernel // 2)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Initialise the weights: vectors uniform on ±sqrt(3 / width), W Glorot, b 0."""
        embedding_(self.characters.weight)
        nn.init.xavier_uniform_(self.convolution.weight)
        assert self.convolution.bias is not None
        nn.init.zeros_(self.convolution.bias)

    def forward(self, batch: Batch) -> Tensor:
        """Return the vectors of the tokens' forms."""
        spelled = spell_by_length(self.spell, batch["chars"], batch["char_lengths"])  # (U, width)
        return F.embedding(batch["forms"], spelled)

    def spell(self, chars: Tensor, lengths: Tensor) -> Tensor:
        """Return the vectors of distinct forms, in one padded run. Shape: (U, C), (U,) -> (U, filters)."""
        real = real_characters(chars, lengths)  # (U, C)
        vectors = self.dropout(self.characters(chars.where(real, 0)))  # (U, C, D), zero past a form's end
        windows: Tensor = self.convolution(F.pad(vectors.transpose(1, 2), self.margins))  # (U, filters, C)
        return windows.masked_fill(~real.unsqueeze(1), -torch.inf).amax(2)
