"""Which implementation of the chain runs where, and why.

``scan`` runs anywhere: plain torch operations, in log space. ``compiled`` runs on a CPU, ten times faster.
All answer the same questions, and none checks what it is given.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import NamedTuple

import torch
from torch import Tensor

from gonie.nn.available import has_numba
from gonie.nn.crf.chain import Chain
from gonie.nn.crf.gold import log_likelihood
from gonie.nn.crf.scan import log_partition, marginals
from gonie.nn.crf.viterbi import viterbi


class Engine(NamedTuple):
    """An implementation. Letters: emissions (B, T, K), tags (B, T), mask (B, T)."""

    name: str
    log_likelihood: Callable[[Tensor, Tensor, Tensor, Chain], Tensor]
    """emissions, tags, mask, chain -> log p(tags | emissions) of each row (B,)."""
    log_partition: Callable[[Tensor, Tensor, Chain], Tensor]
    """emissions, mask, chain -> log Z of each row (B,)."""
    marginals: Callable[[Tensor, Tensor, Chain], Tensor]
    """emissions, mask, chain -> p(yt = j) (B, T, K), without gradient."""
    viterbi: Callable[[Tensor, Tensor, Chain], tuple[Tensor, Tensor]]
    """emissions, mask, chain -> the best tags (B, T) and their scores (B,)."""


SCAN = Engine("scan", log_likelihood, log_partition, marginals, viterbi)


def choose(emissions: Tensor, chain: Chain) -> tuple[Engine, str]:
    """The fastest implementation for these tensors, and the reason."""
    if not emissions.is_cpu:
        return SCAN, f"the scores are on {emissions.device.type}, and the compiled loops run on a CPU"
    if chain.transitions.dtype not in (torch.float32, torch.float64):
        return SCAN, f"the compiled loops take float32 and float64, not {chain.transitions.dtype}"
    if not has_numba():
        return SCAN, "the compiled loops need Numba: pip install 'gonie[train]'"
    return _compiled(), f"{chain.transitions.dtype} on a CPU"


def engine(emissions: Tensor, chain: Chain) -> Engine:
    """The fastest implementation for these tensors."""
    return choose(emissions, chain)[0]


@cache
def _compiled() -> Engine:
    # here, so that a GPU machine needs no Numba
    from gonie.nn.crf.compiled import log_likelihood, log_partition, marginals, viterbi

    return Engine("compiled", log_likelihood, log_partition, marginals, viterbi)
