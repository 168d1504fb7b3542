"""Choose the implementation of the chain for a device.

``scan`` runs anywhere, as torch operations in log space. ``compiled`` runs on a CPU and ``triton_kernels`` on
a GPU, both many times faster. All have the same interface, and none checks its inputs.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import NamedTuple

import torch
from torch import Tensor

from gonie.nn.available import has_numba, has_triton
from gonie.nn.crf.chain import Chain
from gonie.nn.crf.path_score import log_likelihood
from gonie.nn.crf.scan import log_partition, marginals
from gonie.nn.crf.viterbi import viterbi


class ChainEngine(NamedTuple):
    """An implementation of the chain. Letters: emissions (B, T, K), tags (B, T), mask (B, T)."""

    name: str
    marks: bool
    """Whether an invalid row gets the value +inf, so that it can be detected afterwards."""
    fits: Callable[[Tensor, Tensor | None, int], bool]
    """mask, tags or None, K -> whether the mask is right-padded without an empty row, and tags exist."""
    log_likelihood: Callable[[Tensor, Tensor, Tensor, Chain], Tensor]
    """emissions, tags, mask, chain -> log p(tags | emissions) of each row (B,)."""
    log_partition: Callable[[Tensor, Tensor, Chain], Tensor]
    """emissions, mask, chain -> log Z of each row (B,)."""
    marginals: Callable[[Tensor, Tensor, Chain], Tensor]
    """emissions, mask, chain -> p(yt = j) (B, T, K), without gradient."""
    viterbi: Callable[[Tensor, Tensor, Chain], tuple[Tensor, Tensor]]
    """emissions, mask, chain -> the best tags (B, T) and their scores (B,)."""


MOST_TAGS = 128
"""The largest K whose transitions fit the registers of one program of the Triton kernels."""


def fits(mask: Tensor, tags: Tensor | None, num_tags: int) -> bool:
    """Return whether the mask (B, T) is right-padded without an empty row, and every token's tag exists."""
    fine = mask[:, 0].all() & (mask[:, 1:] <= mask[:, :-1]).all()
    if tags is not None:
        fine = fine & (((tags >= 0) & (tags < num_tags)) | ~mask).all()
    return bool(fine)


SCAN = ChainEngine("scan", False, fits, log_likelihood, log_partition, marginals, viterbi)


def engine(emissions: Tensor, parameters: torch.dtype) -> ChainEngine:
    """Return the fastest implementation for these emissions and a chain of this type."""
    return choose(emissions, parameters)[0]


def choose(emissions: Tensor, parameters: torch.dtype) -> tuple[ChainEngine, str]:
    """Return the fastest implementation for these emissions, and the reason."""
    return _choose(emissions.device.type, parameters, emissions.shape[2])


@cache
def _choose(device: str, kind: torch.dtype, num_tags: int) -> tuple[ChainEngine, str]:
    if kind not in (torch.float32, torch.float64):
        return SCAN, f"the faster engines support float32 and float64 parameters, not {kind}"
    if device == "cpu":
        if has_numba():
            return compiled(), f"{kind} on a CPU"
        return SCAN, "the compiled loops need Numba: pip install 'gonie[train]'"
    if device != "cuda":
        return SCAN, f"the faster engines run on a CPU or a CUDA GPU, not on {device}"
    return _choose_on_gpu(kind, num_tags)


def _choose_on_gpu(kind: torch.dtype, num_tags: int) -> tuple[ChainEngine, str]:
    if num_tags > MOST_TAGS:
        return SCAN, f"the Triton kernels support at most {MOST_TAGS} tags, not {num_tags}"
    if has_triton():
        return triton_kernels(), f"{kind} on a CUDA GPU, {num_tags} tags"
    return SCAN, "the Triton kernels need Triton, which comes with PyTorch for CUDA"


@cache
def compiled() -> ChainEngine:
    """Return the compiled loops, which need Numba."""
    # imported here, so that a GPU machine needs no Numba
    from gonie.nn.crf.compiled import fits, log_likelihood, log_partition, marginals, viterbi

    return ChainEngine("compiled", False, fits, log_likelihood, log_partition, marginals, viterbi)


@cache
def triton_kernels() -> ChainEngine:
    """Return the Triton kernels."""
    from gonie.nn.crf.triton_kernels import log_likelihood, log_partition, marginals, viterbi

    return ChainEngine("triton", True, fits, log_likelihood, log_partition, marginals, viterbi)
