"""Score of given paths, the other half of a CRF's likelihood, computed without a loop."""

from __future__ import annotations

import torch.nn.functional as F
from torch import Tensor

from gonie.nn.crf.chain import Chain
from gonie.nn.crf.scan import log_partition
from gonie.nn.precision import full_precision


@full_precision
def path_score(
    emissions: Tensor, tags: Tensor, mask: Tensor, chain: Chain, edges: Tensor | None = None
) -> Tensor:
    """Return s[y0] + Σt e[t, yt] + Σt A[yt-1, yt] + z[ylast] of each row's tags y. Inputs are not checked.

    Shape: ``emissions`` (B, T, K), ``tags`` (B, T), any values at padding, ``mask`` (B, T), ``edges``
    (B, T-1, K, K), which are added to A at each move -> (B,).
    """
    emissions = emissions.to(chain.transitions.dtype)
    K = emissions.shape[2]
    path = tags.where(mask, 0)  # (B, T)
    unary = emissions.gather(2, path.unsqueeze(2)).squeeze(2)  # (B, T)
    moves = path[:, :-1] * K + path[:, 1:]  # (B, T-1), pairs as indices into the flattened transitions
    pairs = F.embedding(moves, chain.transitions.reshape(-1, 1)).squeeze(2)  # (B, T-1)
    if edges is not None:
        chosen = edges.flatten(2).gather(2, moves.unsqueeze(2)).squeeze(2)  # (B, T-1)
        pairs = pairs + chosen.to(pairs.dtype)
    last = path.gather(1, mask.sum(1, keepdim=True) - 1).squeeze(1)  # (B,)
    inside = unary.where(mask, 0.0).sum(1) + pairs.where(mask[:, 1:], 0.0).sum(1)
    return inside + chain.start[path[:, 0]] + chain.end[last]


def log_likelihood(
    emissions: Tensor, tags: Tensor, mask: Tensor, chain: Chain, edges: Tensor | None = None
) -> Tensor:
    """Return log p(y | e) = path score - log Z of each row, without checks or host synchronisation.

    Shape: ``emissions`` (B, T, K), ``tags`` (B, T), ``mask`` (B, T) -> (B,).
    """
    return path_score(emissions, tags, mask, chain, edges) - log_partition(emissions, mask, chain, edges)
