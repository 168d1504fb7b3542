"""Compares the character CNN with a loop over windows."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from gonie.nn import CharCNN


def naive(part: CharCNN, form: list[int], kernel: int) -> np.ndarray:
    """Return the vector of one form, window by window, with zeros outside the form."""
    table = part.characters.weight.detach().numpy()
    weight, bias = part.convolution.weight.detach().numpy(), part.convolution.bias.detach().numpy()
    left = (kernel - 1) // 2
    windows = []
    for centre in range(len(form)):
        total = bias.copy()
        for offset in range(kernel):
            at = centre - left + offset
            if 0 <= at < len(form):
                total += weight[:, :, offset] @ table[form[at]]
        windows.append(total)
    return np.max(windows, axis=0)


@pytest.mark.parametrize("kernel", [1, 2, 3, 4, 5])
def test_vectors_equal_the_naive_loop(kernel: int) -> None:
    part = CharCNN(size=9, width=4, filters=6, kernel=kernel, dropout=0.0).double()
    forms = [[3], [2, 5], [8, 1, 1, 4, 7, 2]]
    lengths = torch.tensor([len(form) for form in forms])
    chars = torch.tensor([form + [7] * (6 - len(form)) for form in forms])  # junk past the end
    expected = np.stack([naive(part, form, kernel) for form in forms])
    np.testing.assert_allclose(part.spell(chars, lengths).detach().numpy(), expected, atol=1e-12)


def test_padding_does_not_raise_the_maximum_of_negative_values() -> None:
    """The maximum is over the windows of the form, without the zeros beyond its end."""
    part = CharCNN(size=3, width=1, filters=1, kernel=1, dropout=0.0)
    with torch.no_grad():
        part.characters.weight[2] = 1.0
        part.convolution.weight.fill_(-5.0)
    assert part.spell(torch.tensor([[2, 0, 0]]), torch.tensor([1])).item() == -5.0
