"""Integrated gradients (Sundararajan et al. 2017, arXiv:1703.01365), by Captum, for one input at a time.

    weight[i] = (x[i] - x'[i]) ∫ ∂F / ∂x[i] along the straight path from the baseline x' to the input x

The weights sum to F(x) - F(x'), up to the error of the integral. The output of a network may change abruptly
at one point of the path, above all for a long text, and then more steps do not help. So the sum is returned
too, and the gap can be shown.

The baseline is zero. A zero vector contributes nothing to any unit, so the path leads from no information to
all of it. The vector of a word, even of the unknown word, has a learned meaning. Padding is also zero.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import torch
from torch import Tensor

from gonie.errors import MissingExtraError

STEPS = 32
BATCH_NUMBERS = 1 << 22
"""Input numbers per batch: 16 MB, plus what the network needs."""


class Integral(NamedTuple):
    """Weights in the shape of each input, and F(x) - F(0), which they should sum to."""

    weights: tuple[Tensor, ...]
    rise: float


def integrate(function: Callable[..., Tensor], inputs: Sequence[Tensor], *, steps: int = STEPS) -> Integral:
    """Return the integrated gradients of ``function``, which maps n copies of the inputs to n numbers.

    The copies are the points of the path, computed in one batch or more, depending on their size.

    Shape: inputs (...) each; ``function`` of (n, ...) each -> (n,).
    """
    try:
        from captum.attr import IntegratedGradients  # type: ignore[import-untyped]
    except ImportError as error:
        raise MissingExtraError("captum", extra="explain", purpose="integrated gradients") from error
    one = tuple(part.detach().unsqueeze(0) for part in inputs)
    batch = max(1, BATCH_NUMBERS // max(1, sum(part.numel() for part in one)))

    def touched(*points: Tensor) -> Tensor:
        """Make the function depend on all inputs: autograd refuses unused ones, whose weights are 0."""
        return function(*points) + sum(0.0 * part.sum() for part in points)

    with torch.backends.cudnn.flags(enabled=False):  # its LSTM has no gradient in evaluation mode
        weights = IntegratedGradients(touched).attribute(one, n_steps=steps, internal_batch_size=batch)
        with torch.no_grad():
            rise = function(*one) - function(*(torch.zeros_like(part) for part in one))
    return Integral(tuple(part.squeeze(0).detach() for part in weights), float(rise))
