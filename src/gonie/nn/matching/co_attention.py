"""Attention between two texts: each token gets a weighted mean of similar tokens in the other text."""

from __future__ import annotations

from typing import NamedTuple

from torch import Tensor, nn

from gonie.nn.poolings.weights import softmax_weights, weighted_sums


class SoftAlignment(NamedTuple):
    """The aligned states of each text's tokens, and the attention that the tokens receive."""

    first: Tensor
    """(N, T1, H): for each token of the first text, a weighted mean of the states of the second."""
    second: Tensor
    """(N, T2, H): for each token of the second text, a weighted mean of the states of the first."""
    first_shares: Tensor
    """(N, T1): the attention that a token of the first text receives, mean over the tokens of the second."""
    second_shares: Tensor
    """(N, T2): the attention that a token of the second text receives, mean over the tokens of the first."""


class CoAttention(nn.Module):
    """e[i, j] = a[i] · b[j];  ã[i] = Σj softmax(e[i, :])[j] b[j];  b̃[j] = Σi softmax(e[:, j])[i] a[i].

    The soft alignment of Parikh et al. 2016 (arXiv:1606.01933) over recurrent states, as in ESIM: Chen et al.
    2017 (arXiv:1609.06038), eq. 11 to 13. Both softmaxes are over real tokens only, and are computed in
    float32 at least. There are no weights.

    Aligned states are zero at padding. If the other text has no token, all aligned states are zero, and so
    are the shares from that text.

    Shape: (N, T1, H), (N, T2, H), masks (N, T1), (N, T2) -> ``SoftAlignment``.
    """

    def forward(
        self, first: Tensor, second: Tensor, first_mask: Tensor, second_mask: Tensor
    ) -> SoftAlignment:
        """Return the aligned states of each text's tokens, and the attention that they receive."""
        first = first.masked_fill(~first_mask.unsqueeze(2), 0.0)
        second = second.masked_fill(~second_mask.unsqueeze(2), 0.0)
        scores = first @ second.transpose(1, 2)  # (N, T1, T2)
        over_first = softmax_weights(scores, first_mask)  # (N, T1, T2), sums to 1 over T1
        over_second = softmax_weights(scores.transpose(1, 2), second_mask)  # (N, T2, T1), over T2
        return SoftAlignment(
            _aligned(second, over_second, first_mask),
            _aligned(first, over_first, second_mask),
            _received(over_first, second_mask),
            _received(over_second, first_mask),
        )


def _aligned(other: Tensor, weights: Tensor, mask: Tensor) -> Tensor:
    """Return Σj weights[j, i] other[j] for each token i, zero at padding.

    Shape: ``other`` (N, T2, H), ``weights`` (N, T2, T1), ``mask`` (N, T1) -> (N, T1, H).
    """
    sums = weighted_sums(other, weights)  # (N, T1 * H): each token i is a separate attention head
    return sums.view(*mask.shape, other.shape[2]).masked_fill(~mask.unsqueeze(2), 0.0)


def _received(weights: Tensor, mask: Tensor) -> Tensor:
    """Return the mean of weights[j, i] over the other text's real tokens i.

    Shape: ``weights`` (N, T2, T1), ``mask`` (N, T1) of the tokens that attend -> (N, T2).
    """
    tokens = mask.sum(1, keepdim=True).clamp(min=1).to(weights.dtype)  # (N, 1)
    return weights.masked_fill(~mask.unsqueeze(1), 0.0).sum(2) / tokens
