"""Compares the brute-force reference with the worked example "Gonie Sleep", computed by hand.

Two words, two tags (0 = noun, 1 = verb); the four paths score s[y0] + e[0,y0] + A[y0,y1] + e[1,y1] + z[y1]:
    noun noun  0.5 + 2 - 1 + 0 + 0 = 1.5        verb noun  0 + 1 + 0.5 + 0 + 0 = 1.5
    noun verb  0.5 + 2 + 1 + 2 + 1 = 6.5        verb verb  0 + 1 + 0 + 2 + 1   = 4.0
"""

from __future__ import annotations

import math

import pytest
import torch

from gonie.nn.crf import brute_force as brute
from gonie.nn.crf.chain import Chain

EMISSIONS = torch.tensor([[2.0, 1.0], [0.0, 2.0]], dtype=torch.float64)  # Gonie, Sleep
CHAIN = Chain(
    *(torch.tensor(x, dtype=torch.float64) for x in ([[-1.0, 1.0], [0.5, 0.0]], [0.5, 0.0], [0.0, 1.0]))
)
BY_HAND = {(0, 0): 1.5, (0, 1): 6.5, (1, 0): 1.5, (1, 1): 4.0}


def test_all_paths_are_enumerated() -> None:
    assert brute.paths(2, 2) == [(0, 0), (0, 1), (1, 0), (1, 1)]
    assert len(set(brute.paths(3, 4))) == 4**3


@pytest.mark.parametrize(("path", "score"), BY_HAND.items())
def test_path_scores_equal_those_computed_by_hand(path: tuple[int, ...], score: float) -> None:
    assert float(brute.path_score(EMISSIONS, path, CHAIN)) == score


def test_partition_likelihood_and_marginals_equal_the_formulas() -> None:
    z = sum(math.exp(score) for score in BY_HAND.values())
    assert float(brute.log_partition(EMISSIONS, CHAIN)) == pytest.approx(math.log(z))
    assert float(brute.log_likelihood(EMISSIONS, (0, 1), CHAIN)) == pytest.approx(6.5 - math.log(z))
    noun_first = (math.exp(1.5) + math.exp(6.5)) / z
    verb_second = (math.exp(6.5) + math.exp(4.0)) / z
    expected = [[noun_first, 1 - noun_first], [1 - verb_second, verb_second]]
    assert torch.allclose(brute.marginals(EMISSIONS, CHAIN), torch.tensor(expected, dtype=torch.float64))


def test_viterbi_returns_the_best_path() -> None:
    path, score = brute.viterbi(EMISSIONS, CHAIN)
    assert path == (0, 1)
    assert float(score) == 6.5
