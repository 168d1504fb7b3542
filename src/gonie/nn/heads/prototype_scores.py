"""Scores by the distance of a state to the mean of each tag's support states: prototypical networks."""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import Tensor

from gonie.nn.heads.distance_scores import DistanceScores
from gonie.nn.heads.support_scale import ABSENT


class PrototypeScores(DistanceScores):
    """scores[k] = −α ‖f(s) − c[k]‖² + α ‖f(s)‖², c[k] the mean of f over the support states of tag k.

    Snell et al. 2017 (arXiv:1703.05175). All tags have the same ‖f(s)‖², so softmax ignores it. What is left
    is linear in f(s) (their §2.4): W = 2αc, b = −α‖c‖². ``space`` is f. The scale α is fitted with c
    (``best_scale``). A tag without support has the score ``ABSENT``.

    Shape: states (…, width) -> (…, num_tags).
    """

    def forward(self, states: Tensor) -> Tensor:
        """Return the scores."""
        return F.linear(self.space(states), self.weight, self.bias)

    def compare(self, states: Tensor, support: Tensor, tags: Tensor) -> Tensor:
        """Return the scores by the prototypes of ``support`` (n, H) with ``tags`` (n,), with gradients.

        Shape: (…, H) -> (…, K).
        """
        vectors = self.space.unfitted(support)
        return F.linear(self.space.unfitted(states), *self._linear(vectors, tags, self.space.scale))

    def put(self, states: Tensor, tags: Tensor, scale: float) -> None:
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
