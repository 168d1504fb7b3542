"""The bidirectional language model: words by their spelling, one stack that reads onward, one backward."""

from __future__ import annotations

from collections.abc import Sequence

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from gonie.nn.bilm.carried import CarriedBoth
from gonie.nn.bilm.direction import Direction
from gonie.nn.bilm.projected_lstm import Carried
from gonie.nn.bilm.spelled_words import SpelledWords
from gonie.nn.reverse import reversal, reverse


class BiLM(nn.Module):
    """Peters et al. 2018 (arXiv:1802.05365) §3.1: two directions that share the words' vectors and never mix.

    ``layers`` L + 1 counts the words' own vectors, once for each direction, as the lowest; a layer's vector
    of a token is [onward; backward], of ``width`` 2P.

    A sentence's vectors depend on that sentence alone: each direction starts from nothing and reads the mark
    of the sentence's beginning, or end, first. Only ``read_on``, which says so, goes on from what came
    before.
    """

    def __init__(self, *, words: SpelledWords, ahead: Direction, back: Direction) -> None:
        super().__init__()
        self.words = words
        self.ahead = ahead
        self.back = back
        self.width = 2 * words.width
        self.layers = 1 + len(ahead.layers)

    def forward(self, chars: Tensor, forms: Tensor, mask: Tensor) -> Tensor:
        """The vectors of sentences, all layers; what stands at padding is free.

        ``chars`` holds the bytes of distinct words, the marks of a sentence's beginning and end in its first
        two rows; ``forms`` says which row each token is.

        Shape: (U, C), (B, T), (B, T) bool -> (L + 1, B, T, 2P).
        """
        vectors = self.words(chars)  # (U, P)
        return self.read(F.embedding(forms, vectors), vectors[:2], mask)

    def read(self, x: Tensor, marks: Tensor, mask: Tensor) -> Tensor:
        """As ``forward``, of words whose own vectors are known.

        Shape: (B, T, P), the marks (2, P), (B, T) bool -> (L + 1, B, T, 2P).
        """
        order = reversal(mask)
        begin, end = marks
        nothing = self.start(x)
        onward, _ = _read(self.ahead, [begin, x], nothing.ahead)
        backward, _ = _read(self.back, [end, reverse(x, order)], nothing.back)
        return _joined(
            x, [states[:, 1:] for states in onward], [reverse(states[:, 1:], order) for states in backward]
        )

    def start(self, x: Tensor) -> CarriedBoth:
        """Nothing carried, for rows that begin. Shape: ``x`` (B, T, P)."""
        rows = x.transpose(0, 1)
        return CarriedBoth(self.ahead.start(rows), self.back.start(rows))

    def read_on(self, x: Tensor, marks: Tensor, carried: CarriedBoth) -> tuple[Tensor, CarriedBoth]:
        """The vectors of sentences of one length that go on from those before, and what they carry on.

        A row of a batch is a text, sentence after sentence, as published models were run when they were made.
        Each direction reads the marks of both ends, so that what it carries has seen the whole sentence; the
        backward one too goes on from the sentence before.

        Shape: (B, T, P), the marks (2, P) -> (L + 1, B, T, 2P).
        """
        begin, end = marks
        onward, ahead = _read(self.ahead, [begin, x, end], carried.ahead)
        backward, back = _read(self.back, [end, x.flip(1), begin], carried.back)
        layers = _joined(
            x, [states[:, 1:-1] for states in onward], [states[:, 1:-1].flip(1) for states in backward]
        )
        return layers, CarriedBoth(ahead, back)


def _read(
    direction: Direction, pieces: Sequence[Tensor], carried: Sequence[Carried]
) -> tuple[list[Tensor], list[Carried]]:
    """Each layer's states (B, T, P) over words (B, T, P) and marks (P,), and what each layer carries on."""
    rows = carried[0][0].shape[0]
    whole = [piece.expand(rows, 1, -1) if piece.dim() == 1 else piece for piece in pieces]
    states, further = direction(torch.cat(whole, dim=1).transpose(0, 1), carried)
    return [layer.transpose(0, 1) for layer in states], further


def _joined(x: Tensor, onward: Sequence[Tensor], backward: Sequence[Tensor]) -> Tensor:
    """The words twice, then each layer's two directions side by side: (L + 1, B, T, 2P)."""
    pairs = zip([x, *onward], [x, *backward], strict=True)
    return torch.stack([torch.cat(pair, dim=2) for pair in pairs])
