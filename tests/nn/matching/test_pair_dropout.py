"""If these break, a word has one vector in the first text and another in the second, and is not matched."""

from __future__ import annotations

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from gonie.errors import InputError
from gonie.nn.matching import PairDropout

RATE, WIDTH = 0.4, 64


def masks(places: torch.Tensor, seed: int = 0) -> torch.Tensor:
    """What a row of ones becomes, token by token: (B, T, D)."""
    torch.manual_seed(seed)
    return PairDropout(RATE)(torch.ones(places.numel(), 3, WIDTH), places)


@given(st.permutations(range(8)), st.integers(0, 9))
def test_both_texts_of_a_pair_have_one_mask_and_other_pairs_have_others(rows: list[int], seed: int) -> None:
    """Wherever the rows of the pairs stand in the batch."""
    places = torch.tensor(rows).view(4, 2)
    found = masks(places, seed)
    assert (found == found[:, :1]).all(), "all tokens of a text lose the same features"
    own = found[:, 0]  # (B, D)
    assert torch.equal(own[places[:, 0]], own[places[:, 1]])
    assert len({tuple(mask.tolist()) for mask in own}) == 4


def test_what_is_kept_is_scaled_so_that_the_mean_stays() -> None:
    found = masks(torch.arange(2000).view(-1, 2))
    torch.testing.assert_close(found.unique(), torch.tensor([0.0, 1 / (1 - RATE)]))
    assert found.mean().item() == pytest.approx(1.0, abs=0.02)
    assert (found == 0).float().mean().item() == pytest.approx(RATE, abs=0.02)


def test_nothing_is_dropped_in_use_or_at_rate_0() -> None:
    x, places = torch.randn(4, 3, WIDTH), torch.tensor([[0, 1], [2, 3]])
    assert torch.equal(PairDropout(RATE).eval()(x, places), x)
    assert torch.equal(PairDropout(0.0)(x, places), x)


def test_a_gradient_passes_where_a_feature_was_kept() -> None:
    x = torch.randn(4, 3, WIDTH, requires_grad=True)
    places = torch.tensor([[3, 0], [1, 2]])
    torch.manual_seed(1)
    PairDropout(RATE)(x, places).sum().backward()
    torch.testing.assert_close(x.grad, masks(places, seed=1))


@pytest.mark.parametrize("rate", [-0.1, 1.0, float("nan")])
def test_a_rate_that_keeps_nothing_is_refused(rate: float) -> None:
    with pytest.raises(InputError, match="rate"):
        PairDropout(rate)


def test_it_names_its_rate() -> None:
    assert repr(PairDropout(0.25)) == "PairDropout(rate=0.25)"
