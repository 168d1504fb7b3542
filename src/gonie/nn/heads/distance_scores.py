"""What scores by distances to support states share: their weights, and the fit of their scale."""

from __future__ import annotations

from abc import ABC, abstractmethod

import torch
from torch import Tensor, nn

from gonie.nn.heads.spaces import Space
from gonie.nn.heads.support_scale import best_scale, held_out
from gonie.nn.initial import glorot_


class DistanceScores(nn.Module, ABC):
    """Linear functions of f(s) whose weights are computed from support states, with a fitted scale α.

    ``space`` is f. A subclass computes the scores in ``forward`` and their weights in ``put``.

    Shape: states (…, width) -> (…, num_tags).
    """

    weight: Tensor
    bias: Tensor

    def __init__(self, *, width: int, num_tags: int, space: Space) -> None:
        super().__init__()
        self.width = width
        self.num_tags = num_tags
        self.space = space
        self.register_buffer("weight", glorot_(torch.empty(num_tags, width)))  # until it is fitted
        self.register_buffer("bias", torch.zeros(num_tags))

    @torch.no_grad()
    def fit(self, states: Tensor, tags: Tensor, examples: Tensor) -> None:
        """Take ``states`` (n, H) with their ``tags`` (n,) as the support, with the best scale.

        ``examples`` (n,) is the number of each state's sentence or text. Each example is scored by the
        support of all others.
        """
        scores, gold = [states.new_zeros(0, self.num_tags)], [tags[:0]]
        for held in held_out(examples):
            self.put(states[~held], tags[~held], 1.0)
            scores.append(self(states[held]))
            gold.append(tags[held])
        self.put(states, tags, best_scale(torch.cat(scores), torch.cat(gold), self.space.scale))

    @abstractmethod
    def put(self, states: Tensor, tags: Tensor, scale: float) -> None:
        """Compute the weights from states (n, H) and tags (n,), with this scale."""
