"""Compares word vectors from bytes with torch's convolution, and tests that padding has no effect."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from gonie.errors import InputError
from gonie.nn.bilm import Filters, SpelledWords

PADDING = 261


def words_of(*, highways: int = 1) -> SpelledWords:
    filters = [Filters(1, 3), Filters(2, 4), Filters(4, 5)]
    return SpelledWords(byte_width=3, filters=filters, highways=highways, width=6)


def spelled(lengths: list[int], width: int) -> Tensor:
    """Return random words as marks and bytes, followed by padding."""
    chars = torch.randint(1, PADDING, (len(lengths), width))
    return chars.where(torch.arange(width) < torch.tensor(lengths).unsqueeze(1), PADDING)


@pytest.mark.parametrize("highways", [0, 1, 2])
def test_vectors_equal_convolution_maximum_and_highways(
    highways: int, scramble: Callable[[nn.Module], nn.Module]
) -> None:
    part = scramble(words_of(highways=highways)).double()
    chars = spelled([3, 9, 5], 9)
    vectors = part.bytes(chars).transpose(1, 2)  # (U, D, C)
    x = F.relu(torch.cat([convolution(vectors).amax(2) for convolution in part.convolutions], dim=1))
    for highway in part.highways:
        x = highway(x)
    torch.testing.assert_close(part(chars), part.projection(x))


def test_padding_beyond_one_window_changes_nothing(
    scramble: Callable[[nn.Module], nn.Module],
) -> None:
    """A batch of short words may be cut to its longest word plus one window, with the same result."""
    part = scramble(words_of()).double()
    lengths = [3, 4, 5]
    whole = spelled(lengths, 30)
    cut = whole[:, : max(lengths) + part.widest]
    torch.testing.assert_close(part(cut), part(whole))
    assert not torch.allclose(part(whole[:, : max(lengths)])[2], part(whole)[2])


def test_vectors_do_not_depend_on_the_batch(scramble: Callable[[nn.Module], nn.Module]) -> None:
    part = scramble(words_of())
    chars = spelled([3, 9, 5, 7], 12)
    torch.testing.assert_close(part(chars)[2], part(chars[2:3])[0])


def test_the_mask_id_keeps_a_zero_vector() -> None:
    part = words_of()
    assert part.bytes.weight[0].eq(0).all()
    part(torch.zeros(1, 5, dtype=torch.long)).sum().backward()
    assert part.bytes.weight.grad is not None
    assert part.bytes.weight.grad.eq(0).all()


def test_no_filters_are_refused() -> None:
    with pytest.raises(InputError, match="no filters"):
        SpelledWords(byte_width=3, filters=[], highways=1, width=6)
