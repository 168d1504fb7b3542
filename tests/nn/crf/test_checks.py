"""Tests which inputs the CRF layer refuses, and its error messages.

If one of these fails, a wrong batch gives a wrong number instead of an error.
"""

from __future__ import annotations

import pytest
import torch

from gonie.errors import InputError
from gonie.nn import CRF
from gonie.nn.crf.chain import Constraints


@pytest.mark.parametrize(
    ("mask", "message"),
    [
        ([[1, 1, 0], [0, 0, 0]], "no token in row 1"),
        ([[1, 1, 0], [1, 1, 1], [1, 0, 1]], "a token after padding in row 2"),
        ([[0, 1, 1]], "a token after padding in row 0"),
    ],
)
def test_a_mask_that_is_not_right_padded_is_refused_by_row(mask: list[list[int]], message: str) -> None:
    given_mask = torch.tensor(mask, dtype=torch.bool)
    crf, emissions = CRF(2), torch.randn(*given_mask.shape, 2)
    for call in (crf.log_partition, crf.viterbi, crf.marginals):
        with pytest.raises(InputError, match=message):
            call(emissions, given_mask)
    with pytest.raises(InputError, match=message):
        crf.log_likelihood(emissions, torch.zeros_like(given_mask, dtype=torch.long), given_mask)


def test_wrong_shapes_and_tags_are_refused() -> None:
    crf, emissions, mask = CRF(3), torch.randn(2, 4, 3), torch.ones(2, 4, dtype=torch.bool)
    with pytest.raises(InputError, match=r"\(B, T, 3\), got \(2, 4, 5\)"):
        crf.log_partition(torch.randn(2, 4, 5), mask)
    with pytest.raises(InputError, match=r"bool mask of shape \(2, 4\)"):
        crf.log_partition(emissions, mask.long())
    with pytest.raises(InputError, match=r"tags of shape \(2, 4\)"):
        crf.log_likelihood(emissions, torch.zeros(2, 3, dtype=torch.long), mask)
    tags = torch.zeros(2, 4, dtype=torch.long)
    tags[1, 2] = 3
    with pytest.raises(InputError, match="out of range: 3 in row 1 at token 2"):
        crf.log_likelihood(emissions, tags, mask)
    with pytest.raises(InputError, match="num_tags must be at least 1: 0"):
        CRF(0)


def test_invalid_arguments_of_inference_methods_are_refused() -> None:
    crf, emissions, mask = CRF(2), torch.zeros(1, 3, 2), torch.ones(1, 3, dtype=torch.bool)
    with pytest.raises(InputError, match=r"edges of shape \(1, 2, 2, 2\)"):
        crf.log_partition(emissions, mask, edges=torch.zeros(1, 3, 2, 2))
    for ask in (crf.nbest, crf.sample):
        with pytest.raises(InputError, match="n must be at least 1: "):
            ask(emissions, mask, 0)
    options = torch.ones(1, 3, 2, dtype=torch.bool)
    options[0, 1] = False
    with pytest.raises(InputError, match="no tag is allowed for token 1 of row 0"):
        crf.partial_log_likelihood(emissions, options, mask)
    one = {"rows": torch.tensor([0]), "starts": torch.tensor([2])}
    with pytest.raises(InputError, match="segment 0: row 0, start 2"):
        crf.segment_probabilities(emissions, mask, **one, tags=torch.tensor([[0, 1]]))
    with pytest.raises(InputError, match=r"allowed start as bool of shape \(2,\)"):
        CRF(2, allowed=Constraints(torch.ones(2, 2).bool(), torch.ones(3).bool(), torch.ones(2).bool()))


def test_options_of_another_shape_or_type_are_refused() -> None:
    crf, emissions, mask = CRF(2), torch.zeros(1, 3, 2), torch.ones(1, 3, dtype=torch.bool)
    with pytest.raises(InputError, match=r"bool options of shape \(1, 3, 2\), got torch.int64"):
        crf.partial_log_likelihood(emissions, torch.ones(1, 3, 2, dtype=torch.int64), mask)
    with pytest.raises(InputError, match=r"got torch.bool of shape \(1, 3, 3\)"):
        crf.partial_log_likelihood(emissions, torch.ones(1, 3, 3, dtype=torch.bool), mask)


def test_zero_width_rows_are_refused_but_empty_batches_are_valid() -> None:
    crf = CRF(2)
    with pytest.raises(InputError, match="no token in row 0"):
        crf.log_partition(torch.zeros(1, 0, 2), torch.ones(1, 0, dtype=torch.bool))
    assert crf.log_partition(torch.zeros(0, 3, 2), torch.ones(0, 3, dtype=torch.bool)).shape == (0,)


def test_an_infinite_score_is_not_an_error() -> None:
    """On a GPU, +inf marks an invalid row. An infinite emission must not be mistaken for it."""
    emissions, mask = torch.zeros(2, 3, 2), torch.ones(2, 3, dtype=torch.bool)
    emissions[0, 0, 0] = torch.inf
    assert CRF(2).log_partition(emissions, mask)[1].isfinite()
