"""The CRF as a layer: its parameters, its checks, and one method for each question asked of a chain.

How the questions are answered is for the implementations that ``engine`` chooses from.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn

from gonie.errors import InputError
from gonie.nn.crf.chain import Chain
from gonie.nn.crf.engine import choose, engine


class CRF(nn.Module):
    """A linear-chain conditional random field: p(y | e) = exp(score(y)) / Σy' exp(score(y')).

    score(y) = start[y0] + Σt e[t, yt] + Σt transitions[yt-1, yt] + end[ylast]. Lafferty, McCallum & Pereira
    2001. Parameters: ``transitions`` (K, K) indexed [from, to], ``start`` (K,), ``end`` (K,). They start at
    0, where the model is a softmax at each token. A parameter of -inf forbids what it scores.

    Shapes throughout: ``emissions`` (B, T, K); ``mask`` (B, T) bool, right-padded, at least one token a row,
    else an error; ``tags`` (B, T) int64. What stands at padding never matters.
    """

    def __init__(self, num_tags: int) -> None:
        super().__init__()
        if num_tags < 1:
            raise InputError(expected="at least one tag", got=f"num_tags={num_tags}")
        self.num_tags = num_tags
        self.transitions = nn.Parameter(torch.zeros(num_tags, num_tags))
        self.start = nn.Parameter(torch.zeros(num_tags))
        self.end = nn.Parameter(torch.zeros(num_tags))

    def chain(self) -> Chain:
        """The parameters as one value."""
        return Chain(self.transitions, self.start, self.end)

    def log_likelihood(self, emissions: Tensor, tags: Tensor, mask: Tensor) -> Tensor:
        """log p(tags | emissions) of each row. Shape: (B,)."""
        self._check(emissions, mask)
        self._check_tags(tags, mask)
        return engine(emissions, self.chain()).log_likelihood(emissions, tags, mask, self.chain())

    def log_partition(self, emissions: Tensor, mask: Tensor) -> Tensor:
        """log Σy exp(score(y)) of each row; its gradient is the marginals. Shape: (B,)."""
        self._check(emissions, mask)
        return engine(emissions, self.chain()).log_partition(emissions, mask, self.chain())

    def viterbi(self, emissions: Tensor, mask: Tensor) -> tuple[Tensor, Tensor]:
        """The best tags (B, T), -1 past a row's end, and their scores (B,)."""
        self._check(emissions, mask)
        return engine(emissions, self.chain()).viterbi(emissions, mask, self.chain())

    def marginals(self, emissions: Tensor, mask: Tensor) -> Tensor:
        """p(yt = j), 0 past a row's end; carries no gradient. Shape: (B, T, K)."""
        self._check(emissions, mask)
        return engine(emissions, self.chain()).marginals(emissions, mask, self.chain())

    def why(self, emissions: Tensor) -> str:
        """Which implementation these emissions get, and the reason, in words."""
        chosen, reason = choose(emissions, self.chain())
        return f"{chosen.name}: {reason}"

    def extra_repr(self) -> str:
        """The number of tags."""
        return f"num_tags={self.num_tags}"

    def _check(self, emissions: Tensor, mask: Tensor) -> None:
        """Refuses shapes that do not fit and masks that are not right-padded."""
        if emissions.dim() != 3 or emissions.shape[2] != self.num_tags:
            raise InputError(
                expected=f"emissions of shape (B, T, {self.num_tags})", got=f"{tuple(emissions.shape)}"
            )
        if mask.dtype != torch.bool or mask.shape != emissions.shape[:2]:
            raise InputError(
                expected=f"a bool mask of shape {tuple(emissions.shape[:2])}",
                got=f"{mask.dtype} of shape {tuple(mask.shape)}",
            )
        _check_padding(mask)

    def _check_tags(self, tags: Tensor, mask: Tensor) -> None:
        """Refuses tags that do not exist."""
        if tags.shape != mask.shape:
            raise InputError(expected=f"tags of shape {tuple(mask.shape)}", got=f"{tuple(tags.shape)}")
        wrong = mask & ((tags < 0) | (tags >= self.num_tags))  # (B, T)
        if wrong.any():
            row, at = (int(i) for i in wrong.nonzero()[0])
            raise InputError(
                expected=f"tags from 0 to {self.num_tags - 1} wherever the mask is true",
                got=f"{int(tags[row, at])} in row {row} at token {at}",
            )


def _check_padding(mask: Tensor) -> None:
    """Refuses a mask (B, T) with an empty row, or with a token after padding; names the first such row."""
    lengths = mask.sum(1)  # (B,)
    padded_right = torch.arange(mask.shape[1], device=mask.device) < lengths.unsqueeze(1)  # (B, T)
    wrong = (lengths == 0) | (mask != padded_right).any(1)  # (B,)
    if wrong.any():
        row = int(wrong.nonzero()[0])
        empty = int(lengths[row]) == 0
        raise InputError(
            expected="a mask with at least one token in each row and padding on the right only",
            got=f"row {row} with {'no token' if empty else 'a token after padding'}",
            fix="Leave empty sentences out of the batch" if empty else "Pad after the last token",
        )
