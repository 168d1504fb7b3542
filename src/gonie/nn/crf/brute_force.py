"""The linear chain by enumeration: every path is listed and scored.

This is the definition in code, exponentially slow and easy to verify. The fast versions are tested against
it. Sequences are passed one at a time, without padding. Shape throughout: ``emissions`` (T, K), ``edges``
(T-1, K, K), which are added to the transitions at each move.
"""

from __future__ import annotations

from itertools import pairwise, product
from typing import TypeAlias

import torch
from torch import Tensor

from gonie.nn.crf.chain import Chain

Path: TypeAlias = tuple[int, ...]


def paths(length: int, num_tags: int) -> list[Path]:
    """Return all K^T tag sequences."""
    return list(product(range(num_tags), repeat=length))


def path_score(emissions: Tensor, path: Path, chain: Chain, edges: Tensor | None = None) -> Tensor:
    """Return the score of one path. Shape: ()."""
    score = chain.start[path[0]] + chain.end[path[-1]]
    for t, tag in enumerate(path):
        score = score + emissions[t, tag]
    for t, (before, after) in enumerate(pairwise(path)):
        score = score + chain.transitions[before, after]
        if edges is not None:
            score = score + edges[t, before, after]
    return score


def path_scores(emissions: Tensor, chain: Chain, edges: Tensor | None = None) -> Tensor:
    """Return the scores of all paths, in the order of ``paths``. Shape: (K^T,)."""
    return torch.stack([path_score(emissions, path, chain, edges) for path in paths(*emissions.shape)])


def log_partition(emissions: Tensor, chain: Chain, edges: Tensor | None = None) -> Tensor:
    """Return log Σ exp of the scores of all paths. Shape: ()."""
    return torch.logsumexp(path_scores(emissions, chain, edges), dim=0)


def log_likelihood(emissions: Tensor, path: Path, chain: Chain, edges: Tensor | None = None) -> Tensor:
    """Return log p of one path. Shape: ()."""
    return path_score(emissions, path, chain, edges) - log_partition(emissions, chain, edges)


def marginals(emissions: Tensor, chain: Chain, edges: Tensor | None = None) -> Tensor:
    """Return p(yt = j): the summed probability of all paths that have tag j at t. Shape: (T, K)."""
    shares = torch.softmax(path_scores(emissions, chain, edges), dim=0)  # (K^T,)
    totals = torch.zeros_like(emissions)
    for path, share in zip(paths(*emissions.shape), shares, strict=True):
        for t, tag in enumerate(path):
            totals[t, tag] += share
    return totals


def pair_marginals(emissions: Tensor, chain: Chain, edges: Tensor | None = None) -> Tensor:
    """Return p(yt = i, yt+1 = j). Shape: (T-1, K, K)."""
    T, K = emissions.shape
    shares = torch.softmax(path_scores(emissions, chain, edges), dim=0)  # (K^T,)
    totals = emissions.new_zeros(T - 1, K, K)
    for path, share in zip(paths(T, K), shares, strict=True):
        for t, (before, after) in enumerate(pairwise(path)):
            totals[t, before, after] += share
    return totals


def entropy(emissions: Tensor, chain: Chain, edges: Tensor | None = None) -> Tensor:
    """Return -Σ p log p over all paths. Shape: ()."""
    shares = torch.softmax(path_scores(emissions, chain, edges), dim=0)
    return -(shares * shares.clamp(min=1e-300).log()).sum()


def segment_probability(
    emissions: Tensor, start: int, segment: Path, chain: Chain, edges: Tensor | None = None
) -> Tensor:
    """Return the summed probability of all paths with the tags of ``segment`` from ``start`` on.

    Shape: ().
    """
    shares = torch.softmax(path_scores(emissions, chain, edges), dim=0)
    inside = [path[start : start + len(segment)] == segment for path in paths(*emissions.shape)]
    return shares[torch.tensor(inside)].sum()


def nbest(emissions: Tensor, chain: Chain, n: int, edges: Tensor | None = None) -> tuple[list[Path], Tensor]:
    """Return the n best possible paths, or all if there are fewer, and their scores, best first."""
    scores = path_scores(emissions, chain, edges)
    order = [i for i in scores.argsort(descending=True).tolist() if scores[i] > -torch.inf][:n]
    every = paths(*emissions.shape)
    return [every[i] for i in order], scores[order]


def viterbi(emissions: Tensor, chain: Chain, edges: Tensor | None = None) -> tuple[Path, Tensor]:
    """Return the best path and its score."""
    score, at = path_scores(emissions, chain, edges).max(dim=0)
    return paths(*emissions.shape)[int(at)], score
