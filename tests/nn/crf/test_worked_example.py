"""Tests the worked example "Gonie Sleep" of CRF courses, and the error it is usually printed with."""

from __future__ import annotations

import pytest
import torch

from gonie.nn import CRF
from gonie.nn.crf import brute_force as brute

B, O = 0, 1  # noqa: E741
EMISSIONS = torch.tensor([[[2.0, 1.0], [1.0, 0.0]]], dtype=torch.float64)  # Gonie, Sleep
MASK = torch.ones(1, 2, dtype=torch.bool)


@pytest.fixture
def crf() -> CRF:
    crf = CRF(2).double()
    with torch.no_grad():
        crf.start.copy_(torch.tensor([1.0, -1.0]))
        crf.transitions.copy_(torch.tensor([[-2.0, 2.0], [1.0, -2.0]]))  # [from, to]
    return crf


def test_scores_of_the_four_paths(crf: CRF) -> None:
    scores = brute.path_scores(EMISSIONS[0], crf.chain()).tolist()
    assert dict(zip(brute.paths(2, 2), scores, strict=True)) == {
        (B, B): 2,
        (B, O): 5,
        (O, B): 2,
        (O, O): -2,
    }


def test_partition_function_and_path_probabilities(crf: CRF) -> None:
    assert crf.log_partition(EMISSIONS, MASK).exp().item() == pytest.approx(163.33, abs=0.005)
    for path, expected in {(B, O): 0.909, (B, B): 0.045, (O, B): 0.045, (O, O): 0.001}.items():
        p = crf.log_likelihood(EMISSIONS, torch.tensor([path]), MASK).exp().item()
        assert p == pytest.approx(expected, abs=0.0005)


def test_viterbi_returns_the_best_path(crf: CRF) -> None:
    tags, score = crf.viterbi(EMISSIONS, MASK)
    assert tags.tolist() == [[B, O]]
    assert score.item() == 5.0
