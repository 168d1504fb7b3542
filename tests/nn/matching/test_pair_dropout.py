"""If these fail, a word has different vectors in the two texts of a pair and is not matched."""

from __future__ import annotations

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from gonie.errors import InputError
from gonie.nn.matching import PairDropout

RATE, WIDTH = 0.4, 64


def masks(places: torch.Tensor, seed: int = 0) -> torch.Tensor:
    """Return rows of ones after dropout: (B, T, D)."""
    torch.manual_seed(seed)
    return PairDropout(RATE)(torch.ones(places.numel(), 3, WIDTH), places)


@given(st.permutations(range(8)), st.integers(0, 9))
def test_texts_of_a_pair_share_a_mask_and_pairs_differ(rows: list[int], seed: int) -> None:
    """This does not depend on the positions of the pairs in the batch."""
    places = torch.tensor(rows).view(4, 2)
    found = masks(places, seed)
    assert (found == found[:, :1]).all(), "all tokens of a text lose the same features"
    own = found[:, 0]  # (B, D)
    assert torch.equal(own[places[:, 0]], own[places[:, 1]])
    assert len({tuple(mask.tolist()) for mask in own}) == 4


def test_kept_features_are_scaled_to_preserve_the_mean() -> None:
    found = masks(torch.arange(2000).view(-1, 2))
    torch.testing.assert_close(found.unique(), torch.tensor([0.0, 1 / (1 - RATE)]))
    assert found.mean().item() == pytest.approx(1.0, abs=0.02)
    assert (found == 0).float().mean().item() == pytest.approx(RATE, abs=0.02)


def test_nothing_is_dropped_in_evaluation_or_at_rate_0() -> None:
    x, places = torch.randn(4, 3, WIDTH), torch.tensor([[0, 1], [2, 3]])
    assert torch.equal(PairDropout(RATE).eval()(x, places), x)
    assert torch.equal(PairDropout(0.0)(x, places), x)


def test_gradients_pass_only_through_kept_features() -> None:
    x = torch.randn(4, 3, WIDTH, requires_grad=True)
    places = torch.tensor([[3, 0], [1, 2]])
    torch.manual_seed(1)
    PairDropout(RATE)(x, places).sum().backward()
    torch.testing.assert_close(x.grad, masks(places, seed=1))


@pytest.mark.parametrize("rate", [-0.1, 1.0, float("nan")])
def test_an_invalid_rate_is_refused(rate: float) -> None:
    with pytest.raises(InputError, match="rate"):
        PairDropout(rate)


def test_repr_shows_the_rate() -> None:
    assert repr(PairDropout(0.25)) == "PairDropout(rate=0.25)"
