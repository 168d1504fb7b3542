"""The network of a language model in training: it predicts the next and the previous word."""

from __future__ import annotations

from typing import NamedTuple

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from gonie.nn.bilm.bilm import BiLM, CarriedBoth
from gonie.nn.bilm.direction import Direction
from gonie.nn.bilm.projected_lstm import Carried
from gonie.nn.bilm.word_softmax import WordSoftmax
from gonie.nn.dropout import standard_dropout


class TextStretch(NamedTuple):
    """The rows of text of a batch in one direction. Each row continues that of the previous batch.

    Shape: all (T, B). ``inputs`` are indices of the batch's distinct words, ``targets`` are indices of the
    softmax. ``counts`` is false for targets that are not scored, such as a sentence start after an end.
    """

    inputs: Tensor
    targets: Tensor
    counts: Tensor


class LanguageModel(nn.Module):
    """-½ (log p(next word | words before) + log p(word before | words after)), mean over words.

    ``dropout`` is applied to the top states, before the softmax that both directions share.
    """

    def __init__(self, *, bilm: BiLM, softmax: WordSoftmax, dropout: float) -> None:
        super().__init__()
        self.bilm = bilm
        self.softmax = softmax
        self.dropout = standard_dropout(dropout)

    def start(self, rows: int) -> CarriedBoth:
        """Return zero states for new rows of text."""
        return self.bilm.start(self.softmax.weight.new_empty(rows, 0, self.bilm.words.width))

    def forward(
        self, chars: Tensor, ahead: TextStretch, back: TextStretch, carried: CarriedBoth
    ) -> tuple[Tensor, CarriedBoth]:
        """Return -log p of each target in both directions, and the states to carry.

        Shape: ``chars`` (U, C) -> (2, T, B), zero for targets that are not scored.
        """
        vectors = self.bilm.words(chars)  # (U, P)
        tops, further = [], []
        for direction, stretch, before in (
            (self.bilm.ahead, ahead, carried.ahead),
            (self.bilm.back, back, carried.back),
        ):
            top, after = _read(direction, F.embedding(stretch.inputs, vectors), before)
            tops.append(top)
            further.append(after)
        states = self.dropout(torch.stack(tops))  # (2, T, B, P)
        targets = torch.stack([ahead.targets, back.targets])  # (2, T, B)
        counts = torch.stack([ahead.counts, back.counts])
        losses = self.softmax(states.flatten(0, 2), targets.flatten()).view_as(targets)
        return losses.where(counts, 0.0), CarriedBoth(*further)


def _read(direction: Direction, x: Tensor, before: list[Carried]) -> tuple[Tensor, list[Carried]]:
    states, after = direction(x, before)
    return states[-1], after
