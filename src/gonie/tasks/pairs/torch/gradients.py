"""The log-odds of a predicted value as a differentiable function of word vectors."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import torch
from torch import Tensor

from gonie.metrics.log_odds import Floats
from gonie.nn.inference import to_tensors
from gonie.tasks.pairs.encoding import PairEncoding, ValueScale
from gonie.tasks.pairs.torch.network import PairNetwork
from gonie.tasks.torch.task import OddsPath
from gonie.text.passages import Passage


def value_odds_path(
    network: PairNetwork, encoding: PairEncoding, scale: ValueScale, passage: Passage
) -> OddsPath:
    """Return log(s / (1 − s)) of a pair's value; weights are one for each token."""
    corpus = encoding.texts.encode_passages([passage])
    batch = to_tensors(corpus.batch(np.array([0])), next(network.parameters()).device)
    with torch.no_grad():
        vectors = network.embed(batch)  # (2, T, D)

    def odds(points: Tensor) -> Tensor:
        """Shape: (n, 2, T, D) -> (n,)."""
        shifts = 2 * torch.arange(len(points), device=points.device).unsqueeze(1)  # (n, 1)
        copies = {"mask": batch["mask"].repeat(len(points), 1), "places": batch["places"] + shifts}
        pooled = network.pool(points.flatten(0, 1), copies).vectors  # (n, P)
        values = network.score(pooled, copies).squeeze(1)  # (n,)
        return torch.logit((values - scale.low) / (scale.high - scale.low), eps=1e-6)

    def words(weights: Sequence[Tensor]) -> Floats:
        """Shape: (2, T, D) -> (M,)."""
        found: Floats = weights[0].sum(2)[batch["mask"]].double().cpu().numpy()
        return found

    return OddsPath(odds, (vectors,), words)
