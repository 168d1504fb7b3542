"""Training objectives of classifiers: the log-likelihood of each text's gold labels.

Both take ``weights`` (K,), the weight of a text by its label, so that rare labels can count more. They also
take ``smoothing`` ε, the label smoothing (Szegedy et al. 2016, arXiv:1512.00567, §7). The sum is not divided
by the weights, so the loss of a text never depends on the rest of the batch.
"""

from __future__ import annotations

from typing import Protocol

import torch.nn.functional as F
from torch import Tensor, nn

from gonie.errors import InputError


class TextObjective(Protocol):
    """Interface of an objective: log-likelihoods, which training maximises."""

    def __call__(self, scores: Tensor, labels: Tensor) -> Tensor:
        """Return log p(labels | scores) of each text, from scores (N, K). Shape: (N,)."""
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
        """Return the log-likelihoods."""
        losses = F.cross_entropy(
            scores, labels, ignore_index=-1, label_smoothing=self.smoothing, reduction="none"
        )  # (N,)
        if self.weights is None:
            return -losses
        return -losses * self.weights.to(losses)[labels.clamp(min=0)]


class AnyNumber(nn.Module):
    """Each text has any number of labels: Σk w[k] y[k] log σ(scores[k]) + (1 - y[k]) log σ(-scores[k]).

    A weight applies only to labels that the text has. With ε, y is 1 - ε / 2 or ε / 2. Labels -1 count 0.
    Shape: scores (N, K), labels (N, K) 0 or 1 -> (N,).
    """

    weights: Tensor | None

    def __init__(self, *, weights: Tensor | None = None, smoothing: float = 0.0) -> None:
        super().__init__()
        self.register_buffer("weights", weights, persistent=False)
        self.smoothing = _checked(smoothing)

    def forward(self, scores: Tensor, labels: Tensor) -> Tensor:
        """Return the log-likelihoods."""
        asked = labels.to(scores.dtype) * (1.0 - self.smoothing) + self.smoothing / 2  # (N, K)
        weights = None if self.weights is None else self.weights.to(scores)
        losses = F.binary_cross_entropy_with_logits(scores, asked, pos_weight=weights, reduction="none")
        return -losses.where(labels >= 0, 0.0).sum(1)


def _checked(smoothing: float) -> float:
    """Return the smoothing if it is in [0, 1), otherwise raise an error."""
    if not 0.0 <= smoothing < 1.0:
        raise InputError(f"label smoothing must be at least 0 and below 1: {smoothing}")
    return smoothing
