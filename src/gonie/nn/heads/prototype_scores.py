"""Scores by the distance of a state to the mean of each tag's support states: prototypical networks."""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from gonie.nn.heads.spaces import Space
from gonie.nn.heads.support_scale import ABSENT, best_scale, held_out
from gonie.nn.initial import glorot_


class PrototypeScores(nn.Module):
    """scores[k] = −α ‖f(s) − c[k]‖² + α ‖f(s)‖², c[k] the mean of f over the support states of tag k.

    Snell et al. 2017 (arXiv:1703.05175). All tags have the same ‖f(s)‖², so softmax ignores it. What is left
    is linear in f(s) (their §2.4): W = 2αc, b = −α‖c‖². ``space`` is f. The scale α is fitted with c
    (``best_scale``). A tag without support has the score ``ABSENT``.

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

    def forward(self, states: Tensor) -> Tensor:
        """Return the scores."""
        return F.linear(self.space(states), self.weight, self.bias)

    @torch.no_grad()
    def fit(self, states: Tensor, tags: Tensor, examples: Tensor) -> None:
        """Set the prototypes to the means of ``states`` (n, H) by ``tags`` (n,).

        ``examples`` (n,) is the number of each state's sentence or text.
        """
        scores, gold = [states.new_zeros(0, self.num_tags)], [tags[:0]]
        for held in held_out(examples):
            self._put(states[~held], tags[~held], 1.0)
            scores.append(self(states[held]))
            gold.append(tags[held])
        self._put(states, tags, best_scale(torch.cat(scores), torch.cat(gold), self.space.scale))

    def compare(self, states: Tensor, support: Tensor, tags: Tensor) -> Tensor:
        """Return the scores by the prototypes of ``support`` (n, H) with ``tags`` (n,), with gradients.

        Shape: (…, H) -> (…, K).
        """
        vectors = self.space.unfitted(support)
        return F.linear(self.space.unfitted(states), *self._linear(vectors, tags, self.space.scale))

    def _put(self, states: Tensor, tags: Tensor, scale: float) -> None:
        """Set the prototypes, with this scale."""
        self.space.fit(states, tags)
        weight, bias = self._linear(self.space(states), tags, scale)
        self.weight.copy_(weight)
        self.bias.copy_(bias)

    def _linear(self, vectors: Tensor, tags: Tensor, scale: float) -> tuple[Tensor, Tensor]:
        """Return W (K, H) and b (K,) of the means of ``vectors`` (n, H)."""
        members = F.one_hot(tags, self.num_tags).to(vectors.dtype)  # (n, K)
        counts = members.sum(0)  # (K,)
        means = self.space.mean(members.T @ vectors / counts.clamp(min=1.0)[:, None])  # (K, H)
        lengths = means.square().sum(1)  # (K,)
        return 2.0 * scale * means, torch.where(counts > 0, -scale * lengths, ABSENT)
