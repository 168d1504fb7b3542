"""What parts ask to be kept small reaches the loss, and is nothing where no part asks."""

from __future__ import annotations

import torch
from torch import nn

from gonie.nn import ElmoEmbedding, ScalarMix, WordEmbedding
from gonie.tasks.language_model.recipe import BilmConfig
from gonie.tasks.language_model.torch.build import build_bilm
from gonie.tasks.torch.penalties import penalties

SHAPE = BilmConfig(byte_width=2, filters=[(1, 2)], width=2, hidden=3)


def test_it_is_the_sum_over_all_parts_that_ask() -> None:
    parts = [
        ElmoEmbedding(
            bilm=build_bilm(SHAPE), mixes=[ScalarMix(layers=3)], tuned=False, dropout=0.0, penalty=penalty
        )
        for penalty in (0.5, 2.0)
    ]
    for part in parts:
        nn.init.constant_(part.mixes[0].weights, 2.0)  # type: ignore[arg-type,union-attr]
    model = nn.Sequential(WordEmbedding(size=3, width=2), *parts)
    torch.testing.assert_close(penalties(model), torch.tensor((0.5 + 2.0) * 3 * 4))


def test_it_is_nothing_for_a_model_without() -> None:
    assert penalties(WordEmbedding(size=3, width=2)) == 0.0
