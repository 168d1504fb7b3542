"""The bidirectional language model: a character encoder, a forward stack and a backward stack."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from gonie.nn.bilm.direction import Direction
from gonie.nn.bilm.projected_lstm import Carried
from gonie.nn.bilm.spelled_words import SpelledWords
from gonie.nn.reverse import reversal, reverse


class CarriedBoth(NamedTuple):
    """The states that both directions carry from one stretch of text to the next, by layer."""

    ahead: list[Carried]
    back: list[Carried]

    def detached(self) -> CarriedBoth:
        """Return the same states without gradient, which truncates back-propagation."""
        return CarriedBoth(*([(h.detach(), c.detach()) for h, c in layers] for layers in self))


class BiLM(nn.Module):
    """Bidirectional language model of Peters et al. 2018 (arXiv:1802.05365) §3.1.

    The two directions share the word vectors and are otherwise independent. ``layers`` L + 1 includes the
    word vectors, once for each direction, as the lowest layer. A layer's vector of a token is [forward;
    backward], of ``width`` 2P.

    The vectors of a sentence depend only on that sentence. Each direction starts from zero states and first
    reads the mark of the sentence's begin or end. Only ``read_on`` continues from previous states.
    """

    def __init__(self, *, words: SpelledWords, ahead: Direction, back: Direction) -> None:
        super().__init__()
        self.words = words
        self.ahead = ahead
        self.back = back
        self.width = 2 * words.width
        self.layers = 1 + len(ahead.layers)

    def forward(self, chars: Tensor, forms: Tensor, mask: Tensor) -> Tensor:
        """Return the vectors of all layers. Values at padding are undefined.

        ``chars`` holds the bytes of distinct words, with the marks of the sentence begin and end in its first
        two rows. ``forms`` holds the row of each token.

        Shape: (U, C), (B, T), (B, T) bool -> (L + 1, B, T, 2P).
        """
        vectors = self.words(chars)  # (U, P)
        return self.read(F.embedding(forms, vectors), vectors[:2], mask)

    def read(self, x: Tensor, marks: Tensor, mask: Tensor) -> Tensor:
        """Return the same as ``forward``, from given word vectors.

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
        """Return zero states for new rows. Shape: ``x`` (B, T, P)."""
        rows = x.transpose(0, 1)
        return CarriedBoth(self.ahead.start(rows), self.back.start(rows))

    def read_on(self, x: Tensor, marks: Tensor, carried: CarriedBoth) -> tuple[Tensor, CarriedBoth]:
        """Return the vectors of equally long sentences that continue previous states, and the new states.

        Each row of a batch is a text, read sentence by sentence, as the published models were run. Each
        direction reads the marks of both ends, so that its states cover the whole sentence. The backward
        direction also continues from the previous sentence.

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
    """Return each layer's states (B, T, P) over words (B, T, P) and marks (P,), and its final states."""
    rows = carried[0][0].shape[0]
    whole = [piece.expand(rows, 1, -1) if piece.dim() == 1 else piece for piece in pieces]
    states, further = direction(torch.cat(whole, dim=1).transpose(0, 1), carried)
    return [layer.transpose(0, 1) for layer in states], further


def _joined(x: Tensor, onward: Sequence[Tensor], backward: Sequence[Tensor]) -> Tensor:
    """Stack the word vectors twice, then both directions of each layer side by side: (L + 1, B, T, 2P)."""
    pairs = zip([x, *onward], [x, *backward], strict=True)
    return torch.stack([torch.cat(pair, dim=2) for pair in pairs])
