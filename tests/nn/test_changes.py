"""Tests trained changes of weights: they start as nothing, and have the stated rank and size."""

from __future__ import annotations

import pytest
import torch

from gonie.nn.changes import BiasChange, MatrixChange, TableChange


@pytest.mark.parametrize("shape", [(6, 5), (6, 2, 3)])
def test_a_new_change_changes_nothing_and_a_trained_one_has_its_rank(shape: tuple[int, ...]) -> None:
    weight = torch.randn(shape)
    change = MatrixChange(rows=6, columns=weight[0].numel(), rank=2)
    assert torch.equal(change(weight), weight)
    torch.nn.init.normal_(change.wide)
    difference = (change(weight) - weight).reshape(6, -1)
    assert torch.linalg.matrix_rank(difference, rtol=1e-4) == 2
    torch.testing.assert_close(difference[3], change.wide[3] @ change.narrow, atol=1e-5, rtol=1e-4)


@pytest.mark.parametrize("rank", [1, 4, 64])
def test_a_step_changes_the_matrix_as_much_as_a_full_step_for_any_rank(rank: int) -> None:
    torch.manual_seed(0)
    change = MatrixChange(rows=2, columns=4000, rank=rank)
    with torch.no_grad():
        change.wide.copy_(0.01 * torch.randn(2, rank).sign())  # a step of Adam with rate 0.01
    moved = change(torch.zeros(2, 4000))
    assert moved.square().mean().sqrt().item() == pytest.approx(0.01, rel=0.2)


def test_the_row_of_padding_stays() -> None:
    change = TableChange(rows=3, columns=4, rank=2)
    torch.nn.init.ones_(change.wide)
    moved = change(torch.zeros(3, 4))
    assert moved.any(1).tolist() == [False, True, True]


def test_training_on_some_rows_of_a_table_leaves_the_others() -> None:
    change = TableChange(rows=5, columns=4, rank=2)
    optimizer = torch.optim.Adam(change.parameters(), lr=0.1)
    table = torch.randn(5, 4)
    for _ in range(3):
        optimizer.zero_grad()
        change(table)[1:3].square().sum().backward()
        optimizer.step()
    assert (change(table) != table).any(1).tolist() == [False, True, True, False, False]


def test_a_bias_is_changed_in_full() -> None:
    change = BiasChange(size=3)
    bias = torch.randn(3)
    assert torch.equal(change(bias), bias)
    torch.nn.init.ones_(change.shift)
    assert torch.equal(change(bias), bias + 1)
