"""Dropout that respects sequences: one mask for a whole sentence, or whole tokens at once.

Plain dropout is ``torch.nn.Dropout``. All three do nothing in evaluation mode.
"""

from __future__ import annotations

from torch import Tensor, nn

from gonie.errors import InputError


class VariationalDropout(nn.Module):
    """Drops the same features at every token of a sentence: y[t] = x[t] ∘ m / (1 - rate), m ~ Bernoulli.

    Gal & Ghahramani 2016 (arXiv:1512.05287). The mean is preserved. Shape: (B, T, D) -> (B, T, D).
    """

    def __init__(self, rate: float) -> None:
        super().__init__()
        self.rate = checked_rate(rate)

    def forward(self, x: Tensor) -> Tensor:
        """Applies one fresh mask per sentence."""
        if not self.training or self.rate == 0.0:
            return x
        keep = x.new_empty(x.shape[0], 1, x.shape[2]).bernoulli_(1.0 - self.rate)  # (B, 1, D)
        return x * keep.div_(1.0 - self.rate)

    def extra_repr(self) -> str:
        """The rate."""
        return f"rate={self.rate}"


class WordDropout(nn.Module):
    """Drops whole tokens: y[t] = x[t] · m[t], m[t] ~ Bernoulli(1 - rate).

    Iyyer et al. 2015. What is kept is not scaled up: a dropped token stands for a word that is not known,
    and the known ones must look in training as they will in use. Shape: (B, T, D) -> (B, T, D).
    """

    def __init__(self, rate: float) -> None:
        super().__init__()
        self.rate = checked_rate(rate)

    def forward(self, x: Tensor) -> Tensor:
        """Sets the vectors of the drawn tokens to zero."""
        if not self.training or self.rate == 0.0:
            return x
        return x * x.new_empty(x.shape[0], x.shape[1], 1).bernoulli_(1.0 - self.rate)  # (B, T, 1) mask

    def extra_repr(self) -> str:
        """The rate."""
        return f"rate={self.rate}"


def checked_rate(rate: float) -> float:
    """A rate in [0, 1), or an error: at 1 nothing would be left to learn from."""
    if not 0.0 <= rate < 1.0:
        raise InputError(expected="a dropout rate of at least 0 and below 1", got=f"{rate}")
    return rate


def plain(rate: float) -> nn.Dropout:
    """``torch.nn.Dropout`` with the rate checked as the others check it."""
    return nn.Dropout(checked_rate(rate))


__all__ = ["VariationalDropout", "WordDropout", "checked_rate", "plain"]
