"""Tests the value head: its scale, its loss and its training."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch
from torch import nn

from gonie.errors import InputError
from gonie.nn import TextScores
from gonie.nn.heads.text_value import TextValueHead


def head(low: float = 0.0, high: float = 5.0, **direct: int) -> TextValueHead:
    return TextValueHead(scores=TextScores(width=4, num_labels=1, direct=direct), low=low, high=high)


def test_values_lie_on_the_scale_with_a_squared_error_loss() -> None:
    part, vectors = head(low=-1.0, high=3.0), 3.0 * torch.randn(6, 4)
    gold = torch.tensor([-1.0, 3.0, 0.0, 0.5, 2.9, 1.0])
    scores = part.score(vectors, {})
    assert scores.shape == (6, 1)
    z = part.scores(vectors, {})[:, 0].tolist()
    wanted = [-1.0 + 4.0 / (1.0 + 2.718281828459045 ** (-each)) for each in z]
    torch.testing.assert_close(scores[:, 0], torch.tensor(wanted))
    errors = [((value - y) / 4.0) ** 2 for value, y in zip(wanted, gold.tolist(), strict=True)]
    torch.testing.assert_close(part.loss(scores, {"labels": gold}), torch.tensor(errors).mean())


def test_the_loss_does_not_depend_on_the_scale() -> None:
    small, large, vectors, share = head(0.0, 1.0), head(10.0, 60.0), torch.randn(5, 4), torch.rand(5)
    large.load_state_dict(small.state_dict())
    torch.testing.assert_close(
        small.loss(small.score(vectors, {}), {"labels": share}),
        large.loss(large.score(vectors, {}), {"labels": 10.0 + 50.0 * share}),
    )


def test_texts_without_a_gold_value_add_no_loss() -> None:
    part, vectors = head(), torch.randn(4, 4, requires_grad=True)
    gold = torch.tensor([1.0, torch.nan, 4.0, torch.nan])
    loss = part.loss(part.score(vectors, {}), {"labels": gold})
    alone = part.loss(part.score(vectors[[0, 2]], {}), {"labels": gold[[0, 2]]})
    torch.testing.assert_close(loss, alone / 2)
    loss.backward()
    assert vectors.grad is not None
    assert vectors.grad.isfinite().all()
    assert not vectors.grad[[1, 3]].any()


def test_the_loss_is_the_mean_of_the_losses_of_single_texts(
    scramble: Callable[[nn.Module], nn.Module],
) -> None:
    part = scramble(head(bag=9))
    vectors, gold = torch.randn(3, 4), torch.tensor([0.0, 5.0, 2.5])
    ids, offsets = torch.randint(0, 9, (6,)), [0, 2, 2, 6]
    batch = {"bag.ids": ids, "bag.offsets": torch.tensor(offsets), "labels": gold}
    scores, alone = part.score(vectors, batch), []  # type: ignore[operator]
    for row in range(3):
        start, end = offsets[row : row + 2]
        one = {
            "bag.ids": ids[start:end],
            "bag.offsets": torch.tensor([0, end - start]),
            "labels": gold[row : row + 1],
        }
        score = part.score(vectors[row : row + 1], one)  # type: ignore[operator]
        torch.testing.assert_close(score, scores[row : row + 1])
        alone.append(part.loss(score, one))  # type: ignore[operator]
    torch.testing.assert_close(part.loss(scores, batch), torch.stack(alone).mean())  # type: ignore[operator]


def test_training_fits_the_gold_values() -> None:
    torch.manual_seed(1)
    part, vectors = head(), torch.randn(64, 4)
    gold = 5.0 * (vectors @ torch.tensor([1.0, -1.0, 0.5, 0.0])).sigmoid()
    optimizer = torch.optim.Adam(part.parameters(), lr=0.1)
    for _ in range(200):
        optimizer.zero_grad()
        loss = part.loss(part.score(vectors, {}), {"labels": gold})
        loss.backward()
        optimizer.step()
    torch.testing.assert_close(part.score(vectors, {})[:, 0], gold, atol=0.05, rtol=0.0)


def test_gradients_equal_numerical_ones() -> None:
    part = head().double()
    vectors = torch.randn(3, 4, dtype=torch.float64, requires_grad=True)
    gold = torch.tensor([0.0, torch.nan, 4.0], dtype=torch.float64)
    assert torch.autograd.gradcheck(lambda x: part.loss(part.score(x, {}), {"labels": gold}), (vectors,))


def test_a_saved_head_has_only_weights(through_a_file: Callable[[nn.Module, nn.Module], nn.Module]) -> None:
    part, vectors = head(), torch.randn(3, 4)
    assert set(part.state_dict()) == {name for name, _ in part.named_parameters()}
    copy = through_a_file(part, head())
    assert torch.equal(copy.score(vectors, {}), part.score(vectors, {}))  # type: ignore[operator]


def test_several_outputs_or_an_empty_scale_are_refused() -> None:
    with pytest.raises(InputError, match="1 output, got 2"):
        TextValueHead(scores=TextScores(width=4, num_labels=2, direct={}), low=0.0, high=5.0)
    with pytest.raises(InputError, match=r"low=5\.0, high=5\.0"):
        head(low=5.0, high=5.0)
