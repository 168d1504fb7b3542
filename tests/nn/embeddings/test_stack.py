"""Embeddings side by side keep their order and their places."""

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


def test_parts_come_in_the_order_given() -> None:
    stack = Stack([Constant(2, 1.0), NoEmbedding(), Constant(1, 2.0)])
    vectors = stack({"mask": torch.ones(1, 2, dtype=torch.bool)})
    assert stack.width == 3
    assert vectors.tolist() == [[[1.0, 1.0, 2.0], [1.0, 1.0, 2.0]]]


def test_what_is_no_module_is_refused() -> None:
    with pytest.raises(InputError, match="got function"):
        Stack([_plain_function])
    with pytest.raises(InputError, match="NoEmbedding"):
        Stack([])


def _plain_function(batch: dict[str, Tensor]) -> Tensor:
    return batch["mask"]


_plain_function.width = 1
