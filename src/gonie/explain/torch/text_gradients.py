"""Integrated gradients of a classifier: what each word's vector, and its n-grams, add to the answer."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor

from gonie.explain.bag_weights import spread
from gonie.explain.odds import Floats
from gonie.explain.torch.path_integral import STEPS, integrate
from gonie.features.ngrams import NGrams
from gonie.features.text_encoding import TextEncoding
from gonie.nn.inference import evaluating, to_tensors
from gonie.tasks.classification.torch.network import ClassifyingNetwork
from gonie.text.passages import Passage

IDS, OFFSETS = f"{NGrams.name}.ids", f"{NGrams.name}.offsets"


class Gradients(NamedTuple):
    """Weights of the tokens (M,), and how far their sum falls short of what it should be.

    What is missing is the error of the integral, and n-grams that touch no token.
    """

    words: Floats
    gap: float


def text_gradients(
    model: ClassifyingNetwork,
    encoding: TextEncoding,
    passage: Passage,
    label: int,
    *,
    temperature: float = 1.0,
    steps: int = STEPS,
) -> Gradients:
    """Integrated gradients of the log-odds of label number ``label``: one weight a token.

    The way leads from zero vectors and no n-grams. A token's weight is the sum over its vector, and its share
    of the n-grams that it has characters of.
    """
    corpus = encoding.encode_passages([passage])
    batch = to_tensors(corpus.batch(np.array([0])), next(model.parameters()).device)
    with evaluating(model):
        with torch.no_grad():
            vectors = model.embed(batch)  # (S, T, D)
            grams = _gram_scores(model, vectors, batch)  # (F, K)

        def odds(points: Tensor, added: Tensor) -> Tensor:
            """Shape: (n, S, T, D), (n, F, K) -> (n,)."""
            copies = _copies(batch, len(points))
            pooled = model.pool(points.flatten(0, 1), copies).vectors  # (n, P)
            scores = model.score(pooled, copies) + added.sum(1)  # (n, K)
            return _log_odds(scores / temperature, label, several=encoding.several)

        integral = integrate(odds, (vectors, grams), steps=steps)
    by_vector, by_gram = integral.weights
    words = by_vector.sum(2)[batch["mask"]].double().cpu().numpy()  # (M,)
    if encoding.bag is not None:
        own = by_gram.sum(1).double().cpu().numpy()  # (F,)
        words = words + spread(own, encoding.bag.places(passage.running), passage)
    return Gradients(words, integral.rise - float(words.sum()))


def _gram_scores(model: ClassifyingNetwork, vectors: Tensor, batch: Mapping[str, Tensor]) -> Tensor:
    """What each n-gram of a text adds to its scores, (F, K); a head's scores are linear in its n-grams."""
    width = model.pool(vectors, batch).vectors.shape[1]
    ids = batch.get(IDS, vectors.new_zeros(0, dtype=torch.int64))
    each = {IDS: ids, OFFSETS: torch.arange(len(ids) + 1, device=ids.device)}  # as if a text of its own
    alone = model.score(vectors.new_zeros(len(ids), width), each)  # (F, K)
    nothing = model.score(vectors.new_zeros(1, width), _no_grams(batch, 1))  # (1, K)
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


def _log_odds(scores: Tensor, label: int, *, several: bool) -> Tensor:
    """``odds.log_odds`` where it can be differentiated. Shape: (n, K) -> (n,)."""
    own = scores[:, label]
    if several:
        return own
    others = torch.arange(scores.shape[1], device=scores.device) != label
    return own - scores[:, others].logsumexp(1)
