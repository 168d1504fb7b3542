"""The log-odds of a span as a differentiable function of word vectors and sparse features.

Explanations use the log-odds of the span's probability, which is shown, and not the scores of its tags. These
ignore the scores of other tags and the transitions.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import torch
from torch import Tensor

from gonie.features.corpus import collate
from gonie.features.encoding import Encoding
from gonie.metrics.log_odds import Floats
from gonie.nn.inference import to_tensors
from gonie.runtime.chain import ChainWeights
from gonie.tasks.tagging.explanation import SpanAnswer
from gonie.tasks.tagging.torch.network import TaggingNetwork
from gonie.tasks.torch.task import OddsPath

IMPOSSIBLE = -1e9
"""The logarithm of 0, finite so that it has a gradient."""


def span_odds_path(
    network: TaggingNetwork, encoding: Encoding, chain: ChainWeights, answer: SpanAnswer
) -> OddsPath:
    """Return the log-odds of a span, with one weight per token of the sentence.

    The baseline is zero vectors without direct features. The contribution of a direct feature belongs to the
    token where it is active, even if it describes a neighbour.
    """
    batch = to_tensors(
        collate(encoding.encode([answer.sentence]), np.array([0])), next(network.parameters()).device
    )
    with torch.no_grad():
        vectors = network.embed(batch)  # (1, T, D)
        direct = _direct_scores(network, vectors, batch, encoding)  # (1, T, K)

    def odds(points: Tensor, added: Tensor) -> Tensor:
        """Shape: (n, T, D), (n, T, K) -> (n,)."""
        mask = batch["mask"].expand(len(points), -1)
        scores = network.score(network.encode(points, mask), _no_features(mask, encoding)) + added
        return span_log_odds(scores, chain, answer.start, answer.tags)

    def words(weights: Sequence[Tensor]) -> Floats:
        """Shape: (T, D), (T, K) -> (T,)."""
        return np.asarray(sum(part.sum(1).double().cpu().numpy() for part in weights))

    return OddsPath(odds, (vectors[0], direct[0]), words)


def span_log_odds(scores: Tensor, chain: ChainWeights, start: int, tags: Sequence[int]) -> Tensor:
    """Return log p / (1 - p), p the probability that the tokens from ``start`` on have exactly ``tags``.

    It is the probability at the temperature of ``chain``, which divides the scores. Two forward recursions
    run in parallel, over the paths with these tags so far and over all others. So 1 - p is never computed,
    and p may be arbitrarily close to 1. In float64.

    Shape: scores (n, T, K) of one sentence, unpadded -> (n,).
    """
    moves, first, last = (
        torch.from_numpy(part).to(scores.device).clamp(min=IMPOSSIBLE)
        for part in (chain.transitions, chain.start, chain.end)
    )
    steps = (scores.double() / chain.temperature).unbind(1)  # (n, K) each
    wanted = dict(enumerate(tags, start=start))
    carrying = first + steps[0]  # (n, K)
    other = torch.full_like(carrying, IMPOSSIBLE)  # (n, K)
    for t, step in enumerate(steps):
        if t:
            carrying, other = ((sums.unsqueeze(2) + moves).logsumexp(1) + step for sums in (carrying, other))
        if t in wanted:
            right = torch.arange(chain.num_tags, device=scores.device) == wanted[t]
            other = torch.logaddexp(other, carrying.masked_fill(right, IMPOSSIBLE))
            carrying = carrying.masked_fill(~right, IMPOSSIBLE)
    return (carrying + last).logsumexp(1) - (other + last).logsumexp(1)


def _direct_scores(
    network: TaggingNetwork, vectors: Tensor, batch: Mapping[str, Tensor], encoding: Encoding
) -> Tensor:
    """Return what the direct features of each token add to its scores, (1, T, K)."""
    states = torch.zeros_like(network.encode(vectors, batch["mask"]))
    return network.score(states, batch) - network.score(states, _no_features(batch["mask"], encoding))


def _no_features(mask: Tensor, encoding: Encoding) -> dict[str, Tensor]:
    """Return a batch without sparse features, for scoring."""
    nothing = torch.zeros(mask.numel() + 1, dtype=torch.int64, device=mask.device)
    batch = {"mask": mask}
    for group in encoding.groups:
        batch |= {f"{group}.ids": nothing[:0], f"{group}.offsets": nothing}
    return batch
