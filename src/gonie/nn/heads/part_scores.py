"""Scores of tags that consist of parts, such as NNG+JKB, with weights that their parts share."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import torch
from torch import Tensor, nn

from gonie.nn.heads.scores import Scores
from gonie.nn.initial import glorot_
from gonie.nn.protocols import Batch


class PartScores(nn.Module):
    """``Scores`` with weights of the tag and of its parts: W[k] = U[k] + Σ over its parts p of V[p].

    A rare tag, such as NNP+XSN+JKB, so learns from all tags with the same parts. ``parts`` has the numbers of
    the parts of each tag. V (P, width) is initialised by Glorot, U (K, width) at 0. With ``width`` 0 there is
    no W, as in ``Scores``.

    Shape: states (B, T, width) -> (B, T, K).
    """

    members: Tensor
    weight_parts: Tensor | None

    def __init__(
        self, *, width: int, parts: Sequence[Sequence[int]], direct: Mapping[str, int], dropout: float = 0.0
    ) -> None:
        super().__init__()
        number = 1 + max(part for own in parts for part in own)
        self.own = Scores(width=width, num_tags=len(parts), direct=direct, dropout=dropout)
        if self.own.weight is not None:
            nn.init.zeros_(self.own.weight)
        shared = nn.Parameter(glorot_(torch.empty(number, width))) if width else None  # (P, width)
        self.register_parameter("weight_parts", shared)
        members = torch.zeros(len(parts), number)  # (K, P)
        for tag, own in enumerate(parts):
            members[tag, list(own)] = 1.0
        self.register_buffer("members", members)

    def forward(self, states: Tensor, batch: Batch) -> Tensor:
        """Return the scores."""
        scores: Tensor = self.own(states, batch)  # (B, T, K)
        return scores if self.weight_parts is None else scores + states @ self.weight_parts.T @ self.members.T

    @property
    def num_tags(self) -> int:
        """K, the number of tags."""
        return self.own.num_tags

    @property
    def weight(self) -> Tensor | None:
        """W (K, width), for the exported graph, which has no parts."""
        if self.own.weight is None or self.weight_parts is None:
            return None
        return self.own.weight + self.members @ self.weight_parts

    @property
    def bias(self) -> Tensor:
        """The bias of each tag (K,)."""
        return self.own.bias

    @property
    def direct(self) -> nn.ModuleDict:
        """The direct weights of sparse features."""
        return self.own.direct
