"""The uncertainty of ensembles: if this breaks, disagreement is not told from ambiguity."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import entropy as reference

from gonie.metrics.entropies import entropies, entropy
from gonie.text.entropies import Entropies, highest


@given(st.integers(0, 10_000), st.integers(1, 5))
def test_parts_add_up_and_are_never_negative(seed: int, members: int) -> None:
    chances = np.random.default_rng(seed).dirichlet(np.full(4, 0.3), size=(members, 6))  # (M, N, K)
    for at, (total, data, information) in enumerate(entropies(chances)):
        assert total == pytest.approx(reference(chances[:, at].mean(axis=0)))
        assert data == pytest.approx(reference(chances[:, at], axis=1).mean())
        assert information == pytest.approx(total - data, abs=1e-12)
        assert information >= 0


def test_copies_of_a_member_do_not_disagree() -> None:
    chances = np.random.default_rng(0).dirichlet(np.ones(3), size=5)
    for each in entropies(np.stack([chances] * 4)):
        assert each.mutual_information == pytest.approx(0.0, abs=1e-12)
        assert each.total_entropy == pytest.approx(each.data_entropy)


def test_certain_members_that_disagree_are_told_from_an_ambiguous_text() -> None:
    disagreement, ambiguity = entropies(np.array([[[1.0, 0.0], [0.5, 0.5]], [[0.0, 1.0], [0.5, 0.5]]]))
    assert disagreement == pytest.approx((np.log(2), 0.0, np.log(2)))
    assert ambiguity == pytest.approx((np.log(2), np.log(2), 0.0))


def test_zero_probabilities_add_nothing() -> None:
    assert entropy(np.array([1.0, 0.0, 0.0])) == 0.0


def test_a_sentence_is_as_uncertain_as_its_tokens() -> None:
    assert highest([Entropies(1.0, 0.5, 0.2), Entropies(0.8, 0.7, 0.1)]) == Entropies(1.0, 0.7, 0.2)
    assert highest([]) == Entropies(0.0, 0.0, 0.0)
