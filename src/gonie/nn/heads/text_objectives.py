"""What the head of a classifier learns from: the log-likelihood of each text's gold labels.

Both take ``weights`` (K,), what a text counts by its label, so that rare labels may count more; and
``smoothing`` ε, the share of certainty that is not asked for (Szegedy et al. 2016, arXiv:1512.00567, §7).
Weights multiply and are not divided out again: the loss of a text never depends on its company.
"""

from __future__ import annotations

from typing import Protocol

import torch.nn.functional as F
from torch import Tensor, nn

from gonie.errors import InputError


class TextObjective(Protocol):
    """The role: log-likelihoods, to be made large."""

    def __call__(self, scores: Tensor, labels: Tensor) -> Tensor:
        """log p(labels | scores) of each text, from scores (N, K). Shape: (N,)."""
        ...


class OneOf(nn.Module):
    """Each text has one label y: w[y] Σk q[k] log softmax(scores)[k], q = (1 - ε) · (k is y) + ε / K.

    Texts labelled -1 count 0. Shape: scores (N, K), labels (N,) -> (N,).
    """

    weights: Tensor | None

    def __init__(self, *, weights: Tensor | None = None, smoothing: float = 0.0) -> None:
        super().__init__()
        self.register_buffer("weights", weights, persistent=False)
        self.smoothing = _checked(smoothing)

    def forward(self, scores: Tensor, labels: Tensor) -> Tensor:
        """The log-likelihoods."""
        losses = F.cross_entropy(
            scores, labels, ignore_index=-1, label_smoothing=self.smoothing, reduction="none"
        )  # (N,)
        if self.weights is None:
            return -losses
        return -losses * self.weights.to(losses)[labels.clamp(min=0)]


class AnyNumber(nn.Module):
    """Each text has any number of labels: Σk w[k] y[k] log σ(scores[k]) + (1 - y[k]) log σ(-scores[k]).

    A weight counts where a text has the label. With ε, y is 1 - ε / 2 and ε / 2. Labels that are -1 count 0.
    Shape: scores (N, K), labels (N, K) 0 or 1 -> (N,).
    """

    weights: Tensor | None

    def __init__(self, *, weights: Tensor | None = None, smoothing: float = 0.0) -> None:
        super().__init__()
        self.register_buffer("weights", weights, persistent=False)
        self.smoothing = _checked(smoothing)

    def forward(self, scores: Tensor, labels: Tensor) -> Tensor:
        """The log-likelihoods."""
        asked = labels.to(scores.dtype) * (1.0 - self.smoothing) + self.smoothing / 2  # (N, K)
        weights = None if self.weights is None else self.weights.to(scores)
        losses = F.binary_cross_entropy_with_logits(scores, asked, pos_weight=weights, reduction="none")
        return -losses.where(labels >= 0, 0.0).sum(1)


def _checked(smoothing: float) -> float:
    """A smoothing in [0, 1), or an error: at 1 nothing would be left to learn from."""
    if not 0.0 <= smoothing < 1.0:
        raise InputError(expected="a label smoothing of at least 0 and below 1", got=f"{smoothing}")
    return smoothing
