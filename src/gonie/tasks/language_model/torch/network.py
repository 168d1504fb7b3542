"""A bidirectional language model in training: what comes next, and what came before."""

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
    """One direction's part of a batch: rows of text, each going on where its last stretch ended.

    Shape: all (T, B). ``inputs`` are places among the batch's distinct words, ``targets`` words of the
    softmax, ``counts`` says which targets say anything: a sentence's beginning after an end does not.
    """

    inputs: Tensor
    targets: Tensor
    counts: Tensor


class LanguageModel(nn.Module):
    """-½ (log p(next word | words before) + log p(word before | words after)), a mean over words.

    ``dropout`` is on the top states, before the softmax that both directions share.
    """

    def __init__(self, *, bilm: BiLM, softmax: WordSoftmax, dropout: float) -> None:
        super().__init__()
        self.bilm = bilm
        self.softmax = softmax
        self.dropout = standard_dropout(dropout)

    def start(self, rows: int) -> CarriedBoth:
        """Nothing carried, for rows of text that begin."""
        return self.bilm.start(self.softmax.weight.new_empty(rows, 0, self.bilm.words.width))

    def forward(
        self, chars: Tensor, ahead: TextStretch, back: TextStretch, carried: CarriedBoth
    ) -> tuple[Tensor, CarriedBoth]:
        """-log p of each target in both directions, and what is carried on.

        Shape: ``chars`` (U, C) -> (2, T, B), zero where a target does not count.
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
