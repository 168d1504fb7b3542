"""Integrated gradients (Sundararajan et al. 2017, arXiv:1703.01365), by Captum, for one input at a time.

    weight[i] = (x[i] - x'[i]) ∫ ∂F / ∂x[i] along the straight way from the baseline x' to the input x

The weights sum to F(x) - F(x'), up to the error of the integral: a network may change its mind at one point
of the way, above all over a long text, and no number of steps lands on that. So the sum is given too, for
what is missing to be shown.

The baseline is zero throughout: a zero vector puts nothing into any unit, so that the way leads from no
information to all of it, whereas the vector of any word, the unknown one too, has learned to mean something.
It is also what stands at padding.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import torch
from torch import Tensor

from gonie.errors import MissingExtraError

STEPS = 32
CELLS = 1 << 22
"""Numbers of the inputs that lie in memory at once: 16 MB, and the network's own on top."""


class Integral(NamedTuple):
    """Weights of each input, as they are shaped, and F(x) - F(0), to which all of them should sum."""

    weights: tuple[Tensor, ...]
    rise: float


def integrate(function: Callable[..., Tensor], inputs: Sequence[Tensor], *, steps: int = STEPS) -> Integral:
    """Integrated gradients of ``function``, which takes n copies of the inputs and gives n numbers.

    The copies are the points of the way, read as one batch, or as several where they are large.

    Shape: inputs (...) each; ``function`` of (n, ...) each -> (n,).
    """
    try:
        from captum.attr import IntegratedGradients  # type: ignore[import-untyped]
    except ImportError as error:
        raise MissingExtraError("captum", extra="explain", purpose="integrated gradients") from error
    one = tuple(part.detach().unsqueeze(0) for part in inputs)
    at_once = max(1, CELLS // max(1, sum(part.numel() for part in one)))

    def touched(*points: Tensor) -> Tensor:
        """The function, of all inputs: autograd refuses one that it does not use, whose weights are 0."""
        return function(*points) + sum(0.0 * part.sum() for part in points)

    with torch.backends.cudnn.flags(enabled=False):  # whose LSTM has no gradient outside of training
        weights = IntegratedGradients(touched).attribute(one, n_steps=steps, internal_batch_size=at_once)
        with torch.no_grad():
            rise = function(*one) - function(*(torch.zeros_like(part) for part in one))
    return Integral(tuple(part.squeeze(0).detach() for part in weights), float(rise))
