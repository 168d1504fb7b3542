"""Log-odds of spans, log p / (1 - p), also where p or 1 - p is too small for a float."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from gonie.runtime.chain import ChainWeights, Floats, Ints, chunk_size
from gonie.runtime.forward_backward_sums import log_sum_exp

FARTHEST = 1e9
"""The log-odds of a span that the chain allows in every tag sequence. Minus this if it allows it in none."""


def span_log_odds(
    chain: ChainWeights,
    emissions: NDArray[np.floating],
    lengths: Ints,
    starts: Sequence[int],
    tags: Sequence[Sequence[int]],
) -> Floats:
    """Return log p / (1 - p), p the probability that the tokens from ``start`` on have exactly ``tags``.

    It is the probability at the temperature of ``chain``, which divides the emissions. Two forward recursions
    run in parallel: over the paths with these tags so far, and over all others. Both sums stay logarithms,
    and 1 - p is never computed.

    Shape: emissions (Q, T, K), lengths (Q,), starts Q, tags Q -> (Q,)
    """
    wanted = np.full(emissions.shape[:2], -1, dtype=np.int64)  # (Q, T), -1 where any tag will do
    for row, start, own in zip(wanted, starts, tags, strict=True):
        row[start : start + len(own)] = own
    some = chunk_size(2 * chain.num_tags**2)
    found = [
        _log_odds(chain, emissions[at : at + some], lengths[at : at + some], wanted[at : at + some])
        for at in range(0, len(emissions), some)
    ]
    return np.asarray(np.clip(np.concatenate([np.zeros(0), *found]), -FARTHEST, FARTHEST))


def _log_odds(chain: ChainWeights, emissions: NDArray[np.floating], lengths: Ints, wanted: Ints) -> Floats:
    """Shape: (Q, T, K), (Q,), (Q, T) -> (Q,), infinite where one of the sums is empty."""
    steps = emissions.transpose(1, 0, 2).astype(np.float64) / chain.temperature  # (T, Q, K)
    right = (wanted.T[..., None] < 0) | (wanted.T[..., None] == np.arange(chain.num_tags))  # (T, Q, K)
    sums = np.stack([chain.start + steps[0], np.full_like(steps[0], -np.inf)])  # (2, Q, K)
    sums = _divided(sums, right[0])
    onward = chain.transitions.T  # (to, from)
    for t in range(1, len(steps)):
        inside = (lengths > t)[:, None]  # (Q, 1)
        reached = log_sum_exp(sums[:, :, None, :] + onward) + steps[t]  # (2, Q, K)
        sums = np.where(inside, _divided(reached, right[t]), sums)
    with_tags, others = log_sum_exp(sums + chain.end)  # (Q,) each
    return np.asarray(with_tags - others)


def _divided(sums: Floats, right: NDArray[np.bool_]) -> Floats:
    """Move the paths whose last tag is not ``right`` (Q, K) from the first of two sums to the second."""
    own, others = sums
    return np.stack([np.where(right, own, -np.inf), np.where(right, others, np.logaddexp(own, others))])
