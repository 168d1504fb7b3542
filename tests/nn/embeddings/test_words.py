"""Tests word vectors: trained and fixed vectors, padding, and the unknown word."""

from __future__ import annotations

import math

import pytest
import torch

from gonie.errors import InputError
from gonie.nn import WordEmbedding


def batch(*rows: list[int]) -> dict[str, torch.Tensor]:
    words = torch.tensor(rows)
    return {"words": words, "mask": words > 0}


@pytest.mark.parametrize("rows", [None, [0, 1, 5, 2, 4, 3]], ids=["in_order", "by_rows"])
def test_pretrained_vectors_are_looked_up_by_id_in_any_row_order(rows: list[int] | None) -> None:
    places = None if rows is None else torch.tensor(rows)
    part = WordEmbedding(size=4, width=3, fixed=2, rows=places)
    vectors = torch.arange(18.0).view(6, 3)
    vectors[0] = 0.0
    part.assign(vectors)
    assert torch.equal(part.table(), vectors)
    got = part.eval()(batch([5, 2, 3, 4, 1, 0]))
    assert torch.equal(got[0], vectors[[5, 2, 3, 4, 1, 0]])


def test_fixed_words_give_no_gradient_to_trained_rows() -> None:
    part = WordEmbedding(size=4, width=3, fixed=2)
    part(batch([2, 4, 5, 0])).sum().backward()
    assert part.weight.grad is not None
    assert part.weight.grad.sum(1).tolist() == [0.0, 0.0, 3.0, 0.0]


def test_fixed_vectors_are_saved_but_not_trained() -> None:
    part = WordEmbedding(size=4, width=3, fixed=2)
    assert [name for name, _ in part.named_parameters()] == ["weight"]
    assert set(part.state_dict()) == {"weight", "fixed"}


def test_padding_stays_zero_through_training() -> None:
    part = WordEmbedding(size=5, width=3)
    optimizer = torch.optim.AdamW(part.parameters(), lr=0.1, weight_decay=0.1)
    for _ in range(3):
        optimizer.zero_grad()
        part(batch([2, 3, 0])).square().sum().backward()
        optimizer.step()
    assert not part.weight[0].any()
    assert not part.eval()(batch([2, 0]))[0, 1].any()


def test_frozen_vectors_have_no_gradient() -> None:
    part = WordEmbedding(size=5, width=3, tuned=False)
    assert not part(batch([2, 3])).requires_grad


def test_words_seen_once_train_the_unknown_word() -> None:
    once = torch.tensor([False, False, True, False])
    part = WordEmbedding(size=4, width=2, singletons=once, singleton_rate=0.3)
    many = batch([2] * 2000 + [3] * 2000)
    unknown = (part(many)[0] == part.weight[1]).all(1)
    assert 0.25 < unknown[:2000].float().mean() < 0.35
    assert not unknown[2000:].any()
    assert not (part.eval()(many)[0] == part.weight[1]).all(1).any()
    assert "singletons" not in part.state_dict()


def test_initial_vectors_have_a_mean_squared_norm_of_1() -> None:
    part = WordEmbedding(size=2000, width=50)
    assert part.weight[1:].abs().max() <= math.sqrt(3 / 50)
    assert part.weight[1:].square().sum(1).mean().item() == pytest.approx(1.0, rel=0.05)
    assert not part.weight[0].any()


def test_invalid_singletons_rows_and_rates_are_refused() -> None:
    with pytest.raises(InputError, match=r"bool of shape \(4,\), got torch.int64 of shape \(3,\)"):
        WordEmbedding(size=4, width=2, singletons=torch.tensor([0, 1, 0]), singleton_rate=0.5)
    with pytest.raises(InputError, match=r"rows as torch.int64 of shape \(5,\)"):
        WordEmbedding(size=4, width=2, fixed=1, rows=torch.arange(4))
    with pytest.raises(InputError, match="below 1"):
        WordEmbedding(size=4, width=2, singleton_rate=1.0)
