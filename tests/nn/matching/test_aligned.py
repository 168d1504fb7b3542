"""Compares matching before pooling with its formula, pair by pair, and tests widths that do not fit."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from gonie.errors import InputError
from gonie.nn import Joined, Max, Mean, NoEncoder, VariationalDropout
from gonie.nn.matching import AlignedMatching, Projection

WIDTH, HIDDEN = 3, 4


def matching() -> AlignedMatching:
    """Return a matching without recurrence, so that the naive loop is short."""
    return AlignedMatching(
        projection=Projection(width=4 * WIDTH, hidden=HIDDEN),
        composition=NoEncoder(width=HIDDEN),
        pooling=Joined([Mean(width=HIDDEN), Max(width=HIDDEN)]),
    )


def softmax(scores: np.ndarray) -> np.ndarray:
    powers = np.exp(scores - scores.max())
    return powers / powers.sum()


def text_vector(a: np.ndarray, b: np.ndarray, weight: np.ndarray, bias: np.ndarray) -> np.ndarray:
    """Return u of a text (T1, H) that is matched with another (T2, H)."""
    composed = []
    for state in a:
        meant = softmax(b @ state) @ b
        enhanced = np.concatenate([state, meant, state - meant, state * meant])
        composed.append(np.maximum(0.0, weight @ enhanced + bias))
    return np.concatenate([np.mean(composed, axis=0), np.max(composed, axis=0)])


def test_vectors_equal_the_naive_loop() -> None:
    part = matching().double()
    torch.nn.init.normal_(part.projection.layer.bias)
    assert (part.input_width, part.width) == (WIDTH, 8 * HIDDEN)
    weight, bias = (value.detach().numpy() for value in part.parameters())
    lengths = [(5, 1), (2, 4), (1, 1), (3, 3)]
    a, b = torch.randn(4, 5, WIDTH, dtype=torch.float64), torch.randn(4, 4, WIDTH, dtype=torch.float64)
    a_mask = torch.arange(5) < torch.tensor([[one] for one, _ in lengths])
    b_mask = torch.arange(4) < torch.tensor([[two] for _, two in lengths])
    found = part(a, b, a_mask, b_mask)
    for row, (T1, T2) in enumerate(lengths):
        one, two = a[row, :T1].numpy(), b[row, :T2].numpy()
        u, v = text_vector(one, two, weight, bias), text_vector(two, one, weight, bias)
        wanted = np.concatenate([u, v, abs(u - v), u * v])
        np.testing.assert_allclose(found.vectors[row].detach().numpy(), wanted, rtol=1e-9, atol=1e-12)


def test_shares_are_the_attention_that_tokens_receive() -> None:
    part = matching()
    a, b = torch.randn(2, 4, WIDTH), torch.randn(2, 3, WIDTH)
    masks = torch.ones(2, 4, dtype=torch.bool), torch.ones(2, 3, dtype=torch.bool)
    found, alone = part(a, b, *masks), part.attention(a, b, *masks)
    assert torch.equal(found.first, alone.first_shares)
    assert torch.equal(found.second, alone.second_shares)


def test_dropout_applies_to_the_input_of_the_composition() -> None:
    part = matching()
    part.dropout = VariationalDropout(0.5)
    torch.nn.init.constant_(part.projection.layer.bias, 50.0)  # so that only dropout gives zeros
    a, mask = torch.randn(16, 4, WIDTH), torch.ones(16, 4, dtype=torch.bool)
    assert (part(a, a, mask, mask).vectors[:, :HIDDEN] == 0).any()
    assert (part.eval()(a, a, mask, mask).vectors[:, :HIDDEN] > 0).all()


@pytest.mark.parametrize(
    ("projection", "composition", "pooling", "message"),
    [
        (13, 4, 4, "multiple of 4, got 13"),
        (12, 5, 5, "a composition that takes width 4, got one that takes 5"),
        (12, 4, 6, "a pooling that takes width 4, got one that takes 6"),
    ],
)
def test_widths_that_do_not_fit_are_refused(
    projection: int, composition: int, pooling: int, message: str
) -> None:
    with pytest.raises(InputError, match=message):
        AlignedMatching(
            projection=Projection(width=projection, hidden=HIDDEN),
            composition=NoEncoder(width=composition),
            pooling=Mean(width=pooling),
        )
