"""The bidirectional language model: words by their spelling, one stack that reads onward, one backward."""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from gonie.nn.bilm.direction import Direction
from gonie.nn.bilm.spelled_words import SpelledWords
from gonie.nn.reverse import reversal, reverse


class BiLM(nn.Module):
    """Peters et al. 2018 (arXiv:1802.05365) §3.1: two directions that share the words' vectors and never mix.

    ``layers`` L + 1 counts the words' own vectors, once for each direction, as the lowest; a layer's vector
    of a token is [onward; backward], of ``width`` 2P.

    A sentence's vectors depend on that sentence alone: each direction starts from nothing and reads the mark
    of the sentence's beginning, or end, first.
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
        x = F.embedding(forms, vectors)  # (B, T, P)
        order = reversal(mask)
        onward = self._read(self.ahead, x, vectors[0])
        backward = [reverse(states, order) for states in self._read(self.back, reverse(x, order), vectors[1])]
        pairs = zip([x, *onward], [x, *backward], strict=True)
        return torch.stack([torch.cat(pair, dim=2) for pair in pairs])

    @staticmethod
    def _read(direction: Direction, x: Tensor, mark: Tensor) -> list[Tensor]:
        """Each layer's states after each token, having read the mark (P,) first: (B, T, P) each."""
        marked = torch.cat([mark.expand(x.shape[0], 1, -1), x], dim=1).transpose(0, 1)  # (1 + T, B, P)
        states, _ = direction(marked, direction.start(marked))
        return [layer[1:].transpose(0, 1) for layer in states]
