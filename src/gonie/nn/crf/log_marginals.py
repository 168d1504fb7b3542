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
    length = scores.shape[1]
    ahead = [start + scores[:, 0]]  # (B, K), with the emission of the token
    for t in range(1, length):
        step = torch.logsumexp(ahead[-1].unsqueeze(2) + transitions, dim=1) + scores[:, t]
        ahead.append(step.where(mask[:, t, None], ahead[-1]))
    back = [end.expand_as(scores[:, 0])]  # (B, K), without it
    for t in range(length - 1, 0, -1):
        step = torch.logsumexp(transitions + (scores[:, t] + back[-1]).unsqueeze(1), dim=2)
        back.append(step.where(mask[:, t, None], back[-1]))
    return (torch.stack(ahead, dim=1) + torch.stack(back[::-1], dim=1)).log_softmax(dim=2)
