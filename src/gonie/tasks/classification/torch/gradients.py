"""The log-odds of a label as a differentiable function of word vectors and n-grams.

A bag of n-grams bypasses the word vectors, so weights of these do not include it. The weight of an n-gram is
divided among the tokens that it overlaps.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from gonie.features.ngrams import NGrams
from gonie.features.text_encoding import TextEncoding
from gonie.metrics.log_odds import Floats
from gonie.nn.inference import to_tensors
from gonie.tasks.classification.torch.network import TextNetwork
from gonie.tasks.torch.task import OddsPath
from gonie.text.passages import Passage

IDS, OFFSETS = f"{NGrams.name}.ids", f"{NGrams.name}.offsets"


def label_odds_path(
    network: TextNetwork,
    encoding: TextEncoding,
    passage: Passage,
    label: int,
    *,
    temperature: float = 1.0,
) -> OddsPath:
    """Return the log-odds of label number ``label``, with one weight per token.

    The baseline is zero vectors without n-grams. The weight of a token is the sum over its vector, plus its
    share of the n-grams that overlap it. N-grams that overlap no token are not in the weights.
    """
    corpus = encoding.encode_passages([passage])
    batch = to_tensors(corpus.batch(np.array([0])), next(network.parameters()).device)
    with torch.no_grad():
        vectors = network.embed(batch)  # (S, T, D)
        grams = _gram_scores(network, vectors, batch)  # (F, K)

    def odds(points: Tensor, added: Tensor) -> Tensor:
        """Shape: (n, S, T, D), (n, F, K) -> (n,)."""
        copies = _copies(batch, len(points))
        pooled = network.pool(points.flatten(0, 1), copies).vectors  # (n, P)
        scores = network.score(pooled, copies) + added.sum(1)  # (n, K)
        return _log_odds(scores / temperature, label, multi_label=encoding.multi_label)

    def words(weights: Sequence[Tensor]) -> Floats:
        """Shape: (S, T, D), (F, K) -> (M,)."""
        by_vector, by_gram = weights
        found: Floats = by_vector.sum(2)[batch["mask"]].double().cpu().numpy()  # (M,)
        if encoding.bag is None:
            return found
        own = by_gram.sum(1).double().cpu().numpy()  # (F,)
        return found + spread_grams(own, encoding.bag.places(passage.running), passage)

    return OddsPath(odds, (vectors, grams), words)


def spread_grams(weights: Floats, places: NDArray[np.int64], passage: Passage) -> Floats:
    """Divide the weight of each n-gram evenly among the tokens that it overlaps.

    N-grams that overlap no token (a blank, or words beyond ``max_tokens``) are left out of the sum.

    Shape: weights (F,), places (F, 2) in the running text, first and end -> (M,).
    """
    starts = np.array([start for sentence in passage.sentences for start in sentence.starts], dtype=np.int64)
    ends = np.array([end for sentence in passage.sentences for end in sentence.ends], dtype=np.int64)
    seen = np.flatnonzero(ends > starts)  # those with characters; both ends in order, as texts are cut
    first = np.searchsorted(ends[seen], places[:, 0], side="right")  # (F,)
    after = np.maximum(np.searchsorted(starts[seen], places[:, 1], side="left"), first)  # (F,)
    shares = np.where(after > first, weights / np.maximum(after - first, 1), 0.0)  # (F,)
    steps = np.bincount(first, shares, len(seen) + 1) - np.bincount(after, shares, len(seen) + 1)
    found = np.zeros(len(starts))  # (M,)
    found[seen] = np.cumsum(steps)[:-1]
    return found


def _gram_scores(network: TextNetwork, vectors: Tensor, batch: Mapping[str, Tensor]) -> Tensor:
    """Return what each n-gram of a text adds to its scores, (F, K). The scores are linear in the n-grams."""
    width = network.pool(vectors, batch).vectors.shape[1]
    ids = batch.get(IDS, vectors.new_zeros(0, dtype=torch.int64))
    each = {IDS: ids, OFFSETS: torch.arange(len(ids) + 1, device=ids.device)}  # as if a text of its own
    alone = network.score(vectors.new_zeros(len(ids), width), each)  # (F, K)
    nothing = network.score(vectors.new_zeros(1, width), _no_grams(batch, 1))  # (1, K)
    return (alone - nothing) / math.sqrt(max(1, len(ids)))


def _copies(batch: Mapping[str, Tensor], number: int) -> dict[str, Tensor]:
    """Return ``number`` copies of a batch of one text, for pooling and scoring, without n-grams."""
    mask, places = batch["mask"], batch["places"]  # (S, T), (1, S)
    shifts = torch.arange(number, device=mask.device).unsqueeze(1) * len(mask)  # (n, 1)
    return {
        "mask": mask.repeat(number, 1),
        "places": places + shifts,
        "places_mask": batch["places_mask"].repeat(number, 1),
        **_no_grams(batch, number),
    }


def _no_grams(batch: Mapping[str, Tensor], texts: int) -> dict[str, Tensor]:
    place = batch["places"]
    return {IDS: place.new_zeros(0), OFFSETS: place.new_zeros(texts + 1)}


def _log_odds(scores: Tensor, label: int, *, multi_label: bool) -> Tensor:
    """Return a differentiable ``odds.log_odds``. Shape: (n, K) -> (n,)."""
    own = scores[:, label]
    if multi_label:
        return own
    others = torch.arange(scores.shape[1], device=scores.device) != label
    return own - scores[:, others].logsumexp(1)
