"""Tests the grouping of word forms by length: the vectors and their order do not change.

If one of these fails, words get the vectors of other words.
"""

from __future__ import annotations

import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor

from gonie.nn.embeddings.forms import real_characters, spell_by_length


@settings(deadline=None, max_examples=60)
@given(st.lists(st.one_of(st.integers(1, 12), st.integers(1, 90)), min_size=1, max_size=80))
def test_grouping_changes_nothing_but_the_padding(lengths: list[int]) -> None:
    given_lengths = torch.tensor(lengths)
    chars = torch.randint(1, 50, (len(lengths), max(lengths)))
    groups = []

    def spell(chars: Tensor, lengths: Tensor) -> Tensor:
        groups.append((len(lengths), chars.shape[1], int(lengths.max())))
        return (chars * real_characters(chars, lengths)).sum(1, keepdim=True).double()

    got = spell_by_length(spell, chars, given_lengths)
    run = groups.copy()
    assert torch.equal(got, spell(chars, given_lengths))
    assert sum(count for count, _, _ in run) == len(lengths)
    assert all(width == longest for _, width, longest in run)
    assert [width for _, width, _ in run] == sorted({width for _, width, _ in run})


def test_one_long_form_does_not_pad_all_others() -> None:
    lengths = torch.tensor([4] * 200 + [140] + [9] * 100)
    cells = []

    def spell(chars: Tensor, lengths: Tensor) -> Tensor:
        cells.append(chars.numel())
        return lengths.unsqueeze(1).double()

    assert torch.equal(
        spell_by_length(spell, torch.ones(301, 140, dtype=torch.long), lengths)[:, 0], lengths.double()
    )
    assert sum(cells) < 301 * 140 / 4
