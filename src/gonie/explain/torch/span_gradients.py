"""Integrated gradients of a tagger: what each word's vector, and its sparse features, add to a span.

Explained are the log-odds of the span's probability, the number that is shown, and not the scores of its
tags: those say nothing of what the other tags got, or of what the chain makes of them.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import torch
from torch import Tensor

from gonie.explain.span_answers import SpanAnswer
from gonie.explain.torch.path_integral import STEPS, integrate
from gonie.explain.torch.span_odds import span_log_odds
from gonie.explain.torch.text_gradients import Gradients
from gonie.features.corpus import collate
from gonie.features.encoding import Encoding
from gonie.nn.inference import evaluating, to_tensors
from gonie.runtime.chain import ChainWeights
from gonie.tasks.tagging.torch.network import TaggingNetwork


def span_gradients(
    model: TaggingNetwork, encoding: Encoding, chain: ChainWeights, answer: SpanAnswer, *, steps: int = STEPS
) -> Gradients:
    """Integrated gradients of the log-odds of a span: one weight for each token of the sentence.

    The way leads from zero vectors and no direct features. What a direct feature adds is the weight of the
    token it fires at, also where it tells of a neighbour.
    """
    batch = to_tensors(
        collate(encoding.encode([answer.sentence]), np.array([0])), next(model.parameters()).device
    )
    with evaluating(model):
        with torch.no_grad():
            vectors = model.embed(batch)  # (1, T, D)
            direct = _direct_scores(model, vectors, batch, encoding)  # (1, T, K)

        def odds(points: Tensor, added: Tensor) -> Tensor:
            """Shape: (n, T, D), (n, T, K) -> (n,)."""
            mask = batch["mask"].expand(len(points), -1)
            scores = model.score(model.encode(points, mask), _no_features(mask, encoding)) + added
            return span_log_odds(scores, chain, answer.start, answer.tags)

        integral = integrate(odds, (vectors[0], direct[0]), steps=steps)
    words = sum(part.sum(1).double().cpu().numpy() for part in integral.weights)  # (T,)
    return Gradients(np.asarray(words), integral.rise - float(np.sum(words)))


def _direct_scores(
    model: TaggingNetwork, vectors: Tensor, batch: Mapping[str, Tensor], encoding: Encoding
) -> Tensor:
    """What the direct features of each token add to its scores, (1, T, K)."""
    states = torch.zeros_like(model.encode(vectors, batch["mask"]))
    return model.score(states, batch) - model.score(states, _no_features(batch["mask"], encoding))


def _no_features(mask: Tensor, encoding: Encoding) -> dict[str, Tensor]:
    """What scoring reads of a batch without any sparse feature."""
    nothing = torch.zeros(mask.numel() + 1, dtype=torch.int64, device=mask.device)
    batch = {"mask": mask}
    for group in encoding.groups:
        batch |= {f"{group}.ids": nothing[:0], f"{group}.offsets": nothing}
    return batch
