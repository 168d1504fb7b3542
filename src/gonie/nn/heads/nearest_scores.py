"""Scores by the distance of a state to the nearest support state of each tag."""

from __future__ import annotations

from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor

from gonie.nn.heads.distance_scores import DistanceScores
from gonie.nn.heads.spaces import Space
from gonie.nn.heads.support_scale import ABSENT


class NearestScores(DistanceScores):
    """scores[k] = −α min ‖f(s) − f(s[i])‖² + α ‖f(s)‖², over the support states s[i] of tag k.

    NNShot: Yang & Katiyar 2020 (arXiv:2010.02405). As in ``PrototypeScores``, ‖f(s)‖² is left out, so the
    scores are the maximum of the linear functions 2α f(s[i])ᵀ f(s) − α ‖f(s[i])‖². ``weight`` (n, H) and
    ``bias`` (n,) are those of all support states in the order of their tags, and ``sizes`` (K,) is the
    number of each tag. ``space`` is f, and α is fitted (``best_scale``). A tag without support has one row,
    with the score ``ABSENT``. In episodes, a soft maximum takes the place of the maximum, so that all support
    states learn.

    Shape: states (…, width) -> (…, num_tags).
    """

    kinks = True
    sizes: Tensor

    def __init__(self, *, width: int, num_tags: int, space: Space) -> None:
        super().__init__(width=width, num_tags=num_tags, space=space)
        self.register_buffer("sizes", torch.ones(num_tags, dtype=torch.int64))

    def forward(self, states: Tensor) -> Tensor:
        """Return the scores."""
        closeness = F.linear(self.space(states), self.weight, self.bias)  # (…, n)
        return self._by_tag(closeness)

    def compare(self, states: Tensor, support: Tensor, tags: Tensor) -> Tensor:
        """Return the soft scores by ``support`` (n, H) with ``tags`` (n,), with gradients.

        Shape: (…, H) -> (…, K).
        """
        vectors, scale = self.space.unfitted(support), self.space.scale
        lengths = vectors.square().sum(1)  # (n,)
        closeness = F.linear(self.space.unfitted(states), 2 * scale * vectors, -scale * lengths)  # (…, n)
        others = F.one_hot(tags, self.num_tags).T == 0  # (K, n)
        return closeness[..., None, :].masked_fill(others, ABSENT).logsumexp(-1)

    def put(self, states: Tensor, tags: Tensor, scale: float) -> None:
        """Set the support, with this scale. A tag without support has a row of zeros."""
        self.space.fit(states, tags)
        every = torch.arange(self.num_tags, device=tags.device)
        missing = every[~torch.isin(every, tags)]
        owners = torch.cat([tags, missing])
        order = owners.argsort(stable=True)
        rows = torch.cat([self.space(states), states.new_zeros(len(missing), self.width)])[order]
        self.sizes.copy_(owners.bincount(minlength=self.num_tags))
        self.weight = 2.0 * scale * rows
        self.bias = torch.where(order < len(tags), -scale * rows.square().sum(1), ABSENT)

    def _by_tag(self, closeness: Tensor) -> Tensor:
        """Return the maximum over the support of each tag. Shape: (…, n) -> (…, K)."""
        parts = torch.split(closeness, self.sizes.tolist(), dim=-1)
        return torch.stack([part.amax(-1) for part in parts], dim=-1)

    def _load_from_state_dict(self, state_dict: Any, prefix: str, *rest: Any) -> None:
        """Load a support of any size."""
        for name in ("weight", "bias"):
            if f"{prefix}{name}" in state_dict:
                saved = state_dict[f"{prefix}{name}"]
                setattr(self, name, getattr(self, name).new_zeros(saved.shape))
        super()._load_from_state_dict(state_dict, prefix, *rest)
