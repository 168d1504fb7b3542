"""Scores by the distance of a state to the mean of each tag's support states: prototypical networks."""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from gonie.nn.heads.spaces import Space
from gonie.nn.heads.support_scale import ABSENT, best_scale, held_out_examples
from gonie.nn.initial import glorot_


class PrototypeScores(nn.Module):
    """scores[k] = −α ‖f(s) − c[k]‖² + α ‖f(s)‖², c[k] the mean of f over the support states of tag k.

    Snell et al. 2017 (arXiv:1703.05175). All tags have the same ‖f(s)‖², so softmax ignores it. What is left
    is linear in f(s) (their §2.4): W = 2αc, b = −α‖c‖². ``space`` is f. The mean of directions is itself
    scaled to length 1. The scale α is fitted with c (``best_scale``). A tag without support has the score
    ``ABSENT``.

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
        vectors = self.space(states)  # (n, H)
        held = [examples == number for number in held_out_examples(examples)]
        scores = torch.cat([self._without(vectors, tags, each) for each in held])
        gold = torch.cat([tags[each] for each in held])
        scale = best_scale(scores, gold, self.space.scale)
        weight, bias = self._linear(vectors, tags, scale)
        self.weight.copy_(weight)
        self.bias.copy_(bias)

    def compare(self, states: Tensor, support: Tensor, tags: Tensor) -> Tensor:
        """Return the scores by the prototypes of ``support`` (n, H) with ``tags`` (n,), with gradients.

        Shape: (…, H) -> (…, K).
        """
        return F.linear(self.space(states), *self._linear(self.space(support), tags, self.space.scale))

    def _without(self, vectors: Tensor, tags: Tensor, held: Tensor) -> Tensor:
        """Return the unscaled scores of the ``held`` (n,) vectors by the prototypes of the others."""
        return F.linear(vectors[held], *self._linear(vectors[~held], tags[~held], 1.0))

    def _linear(self, vectors: Tensor, tags: Tensor, scale: float) -> tuple[Tensor, Tensor]:
        """Return W (K, H) and b (K,) of the means of ``vectors`` (n, H)."""
        members = F.one_hot(tags, self.num_tags).to(vectors.dtype)  # (n, K)
        counts = members.sum(0)  # (K,)
        means: Tensor = self.space(members.T @ vectors / counts.clamp(min=1.0)[:, None])  # (K, H)
        lengths = means.square().sum(1)  # (K,)
        return 2.0 * scale * means, torch.where(counts > 0, -scale * lengths, ABSENT)
