"""Character LSTM: word vectors from a bidirectional LSTM over characters."""

from __future__ import annotations

from typing import ClassVar

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from gonie.nn.dropout import standard_dropout
from gonie.nn.embeddings.forms import real_characters
from gonie.nn.encoders.bidirectional import Bidirectional
from gonie.nn.encoders.lstm import LSTM
from gonie.nn.initial import embedding_
from gonie.nn.protocols import Batch


class CharLSTM(nn.Module):
    """v(form) = [forward state after its last character; backward state after its first].

    Lample et al. 2016 (arXiv:1603.01360) §4.1, with 25 units per direction on vectors of width 25.
    ``dropout`` is applied to the character vectors. Each distinct form is computed once and looked up by
    ``forms``.

    Shape: ``chars`` (U, C), ``char_lengths`` (U,), ``forms`` (B, T) -> (B, T, 2 * hidden).
    """

    indexed: ClassVar = {"characters.weight": ("chars",)}

    def __init__(self, *, size: int, width: int, hidden: int, dropout: float) -> None:
        super().__init__()
        self.width = 2 * hidden
        self.characters = nn.Embedding(size, width, padding_idx=0)
        embedding_(self.characters.weight)
        self.dropout = standard_dropout(dropout)
        self.encoder = Bidirectional(
            ahead=LSTM(width=width, hidden=hidden), back=LSTM(width=width, hidden=hidden)
        )

    def forward(self, batch: Batch) -> Tensor:
        """Return the vectors of the tokens' forms."""
        spelled = self.spell(batch["chars"], batch["char_lengths"])  # (U, width)
        return F.embedding(batch["forms"], spelled)

    def spell(self, chars: Tensor, lengths: Tensor) -> Tensor:
        """Return the vectors of distinct forms, in one padded run. Shape: (U, C), (U,) -> (U, 2 * hidden)."""
        real = real_characters(chars, lengths)  # (U, C)
        vectors = self.dropout(self.characters(chars.where(real, 0)))  # (U, C, D)
        ahead, back = self.encoder(vectors, real).chunk(2, dim=2)  # (U, C, H) each
        last = (lengths - 1).view(-1, 1, 1).expand(-1, 1, ahead.shape[2])  # (U, 1, H)
        return torch.cat([ahead.gather(1, last).squeeze(1), back[:, 0]], dim=1)
