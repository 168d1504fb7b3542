"""The linear chain by enumeration: every path is written down and scored.

It is the definition in code, exponentially slow and easy to believe; the fast versions are proved against it.
Sequences come one at a time, without padding. Shape throughout: ``emissions`` (T, K).
"""

from __future__ import annotations

from itertools import pairwise, product

import torch
from torch import Tensor

from gonie.nn.crf.chain import Chain


def paths(length: int, num_tags: int) -> list[tuple[int, ...]]:
    """All K^T tag sequences."""
    return list(product(range(num_tags), repeat=length))


def path_score(emissions: Tensor, path: tuple[int, ...], chain: Chain) -> Tensor:
    """The score of one path. Shape: ()."""
    score = chain.start[path[0]] + chain.end[path[-1]]
    for t, tag in enumerate(path):
        score = score + emissions[t, tag]
    for before, after in pairwise(path):
        score = score + chain.transitions[before, after]
    return score


def path_scores(emissions: Tensor, chain: Chain) -> Tensor:
    """The scores of all paths, in the order of ``paths``. Shape: (K^T,)."""
    return torch.stack([path_score(emissions, path, chain) for path in paths(*emissions.shape)])


def log_partition(emissions: Tensor, chain: Chain) -> Tensor:
    """log Σ exp of the scores of all paths. Shape: ()."""
    return torch.logsumexp(path_scores(emissions, chain), dim=0)


def log_likelihood(emissions: Tensor, path: tuple[int, ...], chain: Chain) -> Tensor:
    """log of one path's share of the partition. Shape: ()."""
    return path_score(emissions, path, chain) - log_partition(emissions, chain)


def marginals(emissions: Tensor, chain: Chain) -> Tensor:
    """p(yt = j): the shares of all paths that have tag j at t, summed. Shape: (T, K)."""
    shares = torch.softmax(path_scores(emissions, chain), dim=0)  # (K^T,)
    totals = torch.zeros_like(emissions)
    for path, share in zip(paths(*emissions.shape), shares, strict=True):
        for t, tag in enumerate(path):
            totals[t, tag] += share
    return totals


def viterbi(emissions: Tensor, chain: Chain) -> tuple[tuple[int, ...], Tensor]:
    """The best path and its score."""
    score, at = path_scores(emissions, chain).max(dim=0)
    return paths(*emissions.shape)[int(at)], score
