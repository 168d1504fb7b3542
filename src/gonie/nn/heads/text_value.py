"""Regression head: one real value for a text or a pair of texts, such as sentence similarity."""

from __future__ import annotations

from torch import Tensor, nn

from gonie.errors import InputError
from gonie.nn.heads.text_scores import TextScores
from gonie.nn.protocols import Batch


class TextValueHead(nn.Module):
    """value = low + (high − low) · sigmoid(z), z the single output, trained by squared error.

    ``low`` and ``high`` are the ends of the scale of the gold values, 0 and 5 for STS. No value lies outside.
    The loss is computed on values scaled to 0 … 1, ((value − gold) / (high − low))², so that it does not
    depend on the scale.
    """

    def __init__(self, *, scores: TextScores, low: float, high: float) -> None:
        super().__init__()
        if scores.num_labels != 1:
            raise InputError(f"expected scores with 1 output, got {scores.num_labels}")
        if not low < high:
            raise InputError(f"low must be below high: low={low}, high={high}")
        self.scores = scores
        self.low = low
        self.high = high

    def score(self, vectors: Tensor, batch: Batch) -> Tensor:
        """Return the values. Shape: (N, width) -> (N, 1)."""
        shares: Tensor = self.scores(vectors, batch).sigmoid()  # fraction of the way from low to high
        return self.low + (self.high - self.low) * shares

    def loss(self, scores: Tensor, batch: Batch) -> Tensor:
        """Return the squared error on the scale 0 … 1 against ``labels`` (N,), mean over texts. Shape: ().

        Texts whose gold value is NaN count 0.
        """
        gold = batch["labels"].to(scores.dtype)  # (N,)
        errors = (scores.squeeze(1) - gold) / (self.high - self.low)  # (N,)
        return errors.where(~gold.isnan(), 0.0).square().mean()

    def extra_repr(self) -> str:
        """Return the scale."""
        return f"low={self.low}, high={self.high}"
