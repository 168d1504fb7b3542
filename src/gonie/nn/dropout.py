"""Dropout for sequences: one mask per sentence, or whole tokens.

Standard dropout is ``torch.nn.Dropout``. All three do nothing in evaluation mode.
"""

from __future__ import annotations

from torch import Tensor, nn

from gonie.errors import InputError


class VariationalDropout(nn.Module):
    """Drop the same features at every token of a sentence: y[t] = x[t] ∘ m / (1 - rate), m ~ Bernoulli.

    Gal & Ghahramani 2016 (arXiv:1512.05287). The mean is preserved. Shape: (B, T, D) -> (B, T, D).
    """

    def __init__(self, rate: float) -> None:
        super().__init__()
        self.rate = checked_rate(rate)

    def forward(self, x: Tensor) -> Tensor:
        """Apply one random mask per sentence."""
        if not self.training or self.rate == 0.0:
            return x
        keep = x.new_empty(x.shape[0], 1, x.shape[2]).bernoulli_(1.0 - self.rate)  # (B, 1, D)
        return x * keep.div_(1.0 - self.rate)

    def extra_repr(self) -> str:
        """Return the rate."""
        return f"rate={self.rate}"


class WordDropout(nn.Module):
    """Drop whole tokens: y[t] = x[t] · m[t], m[t] ~ Bernoulli(1 - rate).

    Iyyer et al. 2015. The remaining tokens are not scaled. A dropped token stands for an unknown word, and
    known words must look the same in training and in use. Shape: (B, T, D) -> (B, T, D).
    """

    def __init__(self, rate: float) -> None:
        super().__init__()
        self.rate = checked_rate(rate)

    def forward(self, x: Tensor) -> Tensor:
        """Set the vectors of random tokens to zero."""
        if not self.training or self.rate == 0.0:
            return x
        return x * x.new_empty(x.shape[0], x.shape[1], 1).bernoulli_(1.0 - self.rate)  # (B, T, 1) mask

    def extra_repr(self) -> str:
        """Return the rate."""
        return f"rate={self.rate}"


def checked_rate(rate: float) -> float:
    """Return the rate if it is in [0, 1), otherwise raise an error."""
    if not 0.0 <= rate < 1.0:
        raise InputError(f"dropout rate must be at least 0 and below 1: {rate}")
    return rate


def standard_dropout(rate: float) -> nn.Dropout:
    """Return ``torch.nn.Dropout`` with a checked rate."""
    return nn.Dropout(checked_rate(rate))


RATES = ("rate", "p", "dropout")
"""Attributes in which parts keep the rate of their dropout."""


def has_dropout(part: nn.Module) -> bool:
    """Return whether a part itself drops something in training. Its children do not count."""
    rates = (getattr(part, name, None) for name in RATES)
    return any(isinstance(rate, int | float) and rate > 0 for rate in rates)


__all__ = ["VariationalDropout", "WordDropout", "checked_rate", "has_dropout", "standard_dropout"]
