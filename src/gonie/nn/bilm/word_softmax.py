"""Softmax over the next word, exact or sampled, with the vocabulary sorted by frequency.

Over 60,000 words the exact loss takes longer than the network. In training, the frequent words, which hold
most of the probability, are summed exactly, and a sample stands for all rare words. Held-out perplexity is
always exact.
"""

from __future__ import annotations

import math

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from gonie.errors import InputError
from gonie.nn.precision import widened

CHUNK = 4096
"""States scored at once against the whole vocabulary, which bounds the memory."""
SPARE = 8
"""Dummy columns for targets without a sampled position. A multiple of 8 keeps the products fast."""


class WordSoftmax(nn.Module):
    """p(w | h) = exp(W[w] · h + b[w]) / Z,  Z = Σ over all V words.

    Words are sorted by descending count. With ``sampled`` > 0, the training loss estimates Z from the first
    ``exact`` words in full and ``sampled`` others. These are distinct, drawn anew in each call, and stand for
    all (V - exact) of them. The target word is always counted in full. Both directions of a language model
    share W and b.

    Shape: states (N, P), targets (N,) -> -log p (N,).
    """

    def __init__(self, *, size: int, width: int, exact: int = 0, sampled: int = 0) -> None:
        super().__init__()
        if size < 1:
            raise InputError(f"vocabulary size must be at least 1: {size}")
        self.size = size
        self.exact = size if sampled == 0 else min(exact, size)
        self.sampled = min(sampled, size - self.exact)
        self.weight = nn.Parameter(torch.empty(size, width))
        self.bias = nn.Parameter(torch.empty(size))
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Initialise the weights: W normal with variance 1 / P, b 0."""
        nn.init.normal_(self.weight, std=1.0 / math.sqrt(self.weight.shape[1]))
        nn.init.zeros_(self.bias)

    def forward(self, states: Tensor, targets: Tensor) -> Tensor:
        """Return -log p of each target, in training estimated from a sample if ``sampled`` > 0."""
        if self.training and self.sampled:
            return self.estimate(states, targets, self.draw())
        return self.full(states, targets)

    def draw(self) -> Tensor:
        """Draw distinct words beyond the exact ones. Shape: (sampled,)."""
        rare = torch.randperm(self.size - self.exact, device=self.weight.device)
        return rare[: self.sampled] + self.exact

    def estimate(self, states: Tensor, targets: Tensor, drawn: Tensor) -> Tensor:
        """Return -log p with Z estimated from the exact and the ``drawn`` words. Shape: (N,)."""
        own = widened((states * F.embedding(targets, self.weight)).sum(1)) + self.bias[targets]  # (N,)
        scores = F.linear(states, *self._summed(drawn))  # (N, exact + sampled + SPARE)
        scores.scatter_(1, self._place(targets, drawn).unsqueeze(1), -torch.inf)  # ``own`` is added in full
        beyond = own.masked_fill(targets < self.exact, -torch.inf)  # (N,)
        return torch.logaddexp(widened(scores.logsumexp(1)), beyond) - own

    def _summed(self, drawn: Tensor) -> tuple[Tensor, Tensor]:
        """Return weights and biases of the exact and sampled words, and of ``SPARE`` dummy columns."""
        share = math.log((self.size - self.exact) / len(drawn))
        none = self.weight.new_zeros(SPARE, self.weight.shape[1])
        weight = torch.cat([self.weight[: self.exact], F.embedding(drawn, self.weight), none])
        never = self.bias.new_full((SPARE,), -torch.inf)
        return weight, torch.cat([self.bias[: self.exact], self.bias[drawn] + share, never])

    def _place(self, targets: Tensor, drawn: Tensor) -> Tensor:
        """Return the column of each target among the drawn words, or a spare column. Shape: (N,)."""
        last = self.exact + len(drawn)
        places = torch.full((self.size,), last, device=drawn.device)
        places[drawn] = torch.arange(self.exact, last, device=drawn.device)
        return places[targets]

    def full(self, states: Tensor, targets: Tensor) -> Tensor:
        """Return -log p over the whole vocabulary. Shape: (N,)."""
        starts = range(0, len(states), CHUNK)
        return torch.cat([self._exact_loss(states[i : i + CHUNK], targets[i : i + CHUNK]) for i in starts])

    def _exact_loss(self, states: Tensor, targets: Tensor) -> Tensor:
        scores = widened(F.linear(states, self.weight, self.bias))  # (chunk, V)
        return F.cross_entropy(scores, targets, reduction="none")
