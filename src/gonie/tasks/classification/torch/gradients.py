"""The log-odds of a label as a function of word vectors and n-grams, to take gradients of.

An n-gram bag passes by the vectors of the words, and so by whatever explains those. But an n-gram stands
somewhere in the text, and there are tokens there: they share its weight.
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
    """The log-odds of label number ``label``; weights are one for each token.

    The way leads from zero vectors and no n-grams. A token's weight is the sum over its vector, and its share
    of the n-grams that it has characters of. N-grams that touch no token are missing from the weights.
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
    """Each n-gram's weight, in even shares on the tokens that it has characters of.

    What touches no token (a blank, or words beyond ``max_tokens``) is on none, and missing from the sum.

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
    """What each n-gram of a text adds to its scores, (F, K); a head's scores are linear in its n-grams."""
    width = network.pool(vectors, batch).vectors.shape[1]
    ids = batch.get(IDS, vectors.new_zeros(0, dtype=torch.int64))
    each = {IDS: ids, OFFSETS: torch.arange(len(ids) + 1, device=ids.device)}  # as if a text of its own
    alone = network.score(vectors.new_zeros(len(ids), width), each)  # (F, K)
    nothing = network.score(vectors.new_zeros(1, width), _no_grams(batch, 1))  # (1, K)
    return (alone - nothing) / math.sqrt(max(1, len(ids)))


def _copies(batch: Mapping[str, Tensor], number: int) -> dict[str, Tensor]:
    """What pooling and scoring read of a batch of one text, for so many copies of it without n-grams."""
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
    """``odds.log_odds`` where it can be differentiated. Shape: (n, K) -> (n,)."""
    own = scores[:, label]
    if multi_label:
        return own
    others = torch.arange(scores.shape[1], device=scores.device) != label
    return own - scores[:, others].logsumexp(1)
