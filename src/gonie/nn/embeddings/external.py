"""External vectors of tokens, from a file: features that something other than gonie has computed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor, nn

from gonie.nn.dropout import standard_dropout
from gonie.nn.protocols import Batch

GIVEN = "external"
"""Name of the vectors in a batch."""
SHORTEST = 1e-12
"""The least length by which a vector is divided, so that zeros stay zeros."""


class ExternalEmbedding(nn.Module):
    """x[b, t] = W v + b of the given vectors v = ``external`` (B, T, G), or v itself without a projection.

    With ``normalize``, vectors first become v / ‖v‖. ``projection`` is the width of W v + b, 0 for none. The
    same vectors are used at each of the ``places``.

    Shape: (B, T, (projection or G) · places).
    """

    name = "external"
    tuned = False

    def __init__(
        self, *, given: int, places: Sequence[str], projection: int, normalize: bool, dropout: float
    ) -> None:
        super().__init__()
        self.given = given
        self.places = tuple(places)
        self.place_width = projection or given
        self.width = self.place_width * len(self.places)
        self.projection = nn.Linear(given, projection) if projection else None
        self.normalize = normalize
        self.dropout = standard_dropout(dropout)
        self.register_buffer("kind", torch.zeros(()), persistent=False)  # the type and device of the vectors

    def forward(self, batch: Batch) -> Tensor:
        """Return the vectors of the tokens."""
        vectors = batch[GIVEN].to(self.get_buffer("kind").dtype)  # (B, T, G)
        if self.normalize:
            vectors = vectors / vectors.norm(dim=2, keepdim=True).clamp(min=SHORTEST)
        if self.projection is not None:
            vectors = self.projection(vectors)
        dropped: Tensor = self.dropout(torch.cat([vectors] * len(self.places), dim=2))
        return dropped

    def penalty(self) -> Tensor:
        """Return 0: nothing is added to the loss. Shape: ()."""
        return self.get_buffer("kind")

    def report(self) -> list[dict[str, Any]]:
        """Return nothing, because there are no layers to mix."""
        return []

    def extra_repr(self) -> str:
        """Return the width of the given vectors, and where they are used."""
        return f"{self.given}, {'+'.join(self.places)}"
