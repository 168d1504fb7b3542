"""The scale of squared distances, fitted to the support examples by leaving out one at a time."""

from __future__ import annotations

from collections.abc import Iterator

import torch
import torch.nn.functional as F
from torch import Tensor

ABSENT = -1e9
"""The score of a tag without support, which is never predicted."""
STEPS, RANGE = 41, 100.0
MOST_EXAMPLES = 200
"""The number of examples that are left out in turn, at most."""


def held_out(examples: Tensor) -> Iterator[Tensor]:
    """Yield the states (n,) bool of each example in turn, evenly spaced examples if there are many.

    ``examples`` (n,) is the number of each state's example. If there is only one, none is left out.
    """
    numbers = sorted(set(examples.tolist()))
    step = max(1, -(-len(numbers) // MOST_EXAMPLES))
    for number in numbers[::step] if len(numbers) > 1 else ():
        yield examples == number


def best_scale(scores: Tensor, tags: Tensor, initial: float) -> float:
    """Return the scale with the highest likelihood of ``tags`` (n,) by scale · ``scores`` (n, K).

    The scores of a state come from the support of other examples. Tokens whose tag has no other support are
    left out. If no token is left, the scale is ``initial``. Scales from initial / 100 to 100 · initial are
    tried.
    """
    known = scores.gather(1, tags[:, None]).squeeze(1) > ABSENT / 2  # (n,)
    if not known.any():
        return initial
    scores, tags = scores[known].double(), tags[known]
    candidates = (initial * RANGE ** torch.linspace(-1, 1, STEPS, dtype=torch.float64)).tolist()
    losses = [float(F.cross_entropy(scores * scale, tags)) for scale in candidates]
    return float(candidates[losses.index(min(losses))])
