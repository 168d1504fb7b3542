"""Marginals of a linear chain as a differentiable function, for losses on them.

``CRF.marginals`` is faster and has no gradient. Here autograd records every step of both recursions, so it is
for training objectives that need the derivative of a marginal.
"""

from __future__ import annotations

import torch
from torch import Tensor

from gonie.nn.crf.chain import Chain
from gonie.nn.precision import full_precision

IMPOSSIBLE = -1e4
"""The score of what is not allowed. Its probability is 0, and its gradient is finite, unlike that of -inf."""


@full_precision
def log_marginals(emissions: Tensor, mask: Tensor, chain: Chain) -> Tensor:
    """Return log p(yt = j), differentiable, undefined at padding. Scores of -inf count as ``IMPOSSIBLE``.

    Shape: ``emissions`` (B, T, K), ``mask`` (B, T) -> (B, T, K).
    """
    scores = emissions.to(chain.transitions.dtype).clamp(min=IMPOSSIBLE)
    transitions, start, end = (part.clamp(min=IMPOSSIBLE) for part in chain)
    rows, length, _ = scores.shape
    # Entry t of a reversed row is its token (length of the row - 1 - t). Both recursions run at once, the
    # second one over reversed rows, and each includes the emission of the token. Padding is never read.
    tokens = torch.arange(length, device=mask.device)
    places = (mask.sum(1, keepdim=True) - 1 - tokens).clamp(min=0)  # (B, T)
    turned = places.unsqueeze(2).expand_as(scores)
    both = torch.cat([scores, scores.gather(1, turned)])  # (2B, T, K)
    moves = torch.stack([transitions, transitions.t()]).repeat_interleave(rows, dim=0)  # (2B, K, K)
    sums = [torch.stack([start, end]).repeat_interleave(rows, dim=0) + both[:, 0]]  # (2B, K) each
    for emission in both.unbind(1)[1:]:
        sums.append(torch.logsumexp(sums[-1].unsqueeze(2) + moves, dim=1) + emission)
    ahead, back = torch.stack(sums, dim=1).chunk(2)
    return (ahead + back.gather(1, turned) - scores).log_softmax(dim=2)
