"""Tests stacked embeddings: their order, and parts that are refused."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor, nn

from gonie.errors import InputError
from gonie.nn import NoEmbedding, Stack


class Constant(nn.Module):
    def __init__(self, width: int, value: float) -> None:
        super().__init__()
        self.width, self.value = width, value

    def forward(self, batch: dict[str, Tensor]) -> Tensor:
        return torch.full((*batch["mask"].shape, self.width), self.value)


def test_parts_are_concatenated_in_order() -> None:
    stack = Stack([Constant(2, 1.0), NoEmbedding(), Constant(1, 2.0)])
    vectors = stack({"mask": torch.ones(1, 2, dtype=torch.bool)})
    assert stack.width == 3
    assert vectors.tolist() == [[[1.0, 1.0, 2.0], [1.0, 1.0, 2.0]]]


def test_a_plain_function_or_an_empty_stack_is_refused() -> None:
    with pytest.raises(InputError, match="got function"):
        Stack([_plain_function])
    with pytest.raises(InputError, match="NoEmbedding"):
        Stack([])


def _plain_function(batch: dict[str, Tensor]) -> Tensor:
    return batch["mask"]


_plain_function.width = 1
