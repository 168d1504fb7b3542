"""Tests that the CRF head applies the CRF to the scores."""

from __future__ import annotations

import pytest
import torch

from gonie.errors import InputError
from gonie.nn import CRF, CRFHead, Scores


def test_loss_and_chain_equal_those_of_the_crf() -> None:
    crf = CRF(4)
    for parameter in crf.parameters():
        torch.nn.init.normal_(parameter)
    head = CRFHead(scores=Scores(width=2, num_tags=4, direct={}), crf=crf)
    mask = torch.arange(5) < torch.tensor([[5], [2]])
    scores, tags = torch.randn(2, 5, 4), torch.randint(0, 4, (2, 5)).where(mask, -1)
    expected = -crf.log_likelihood(scores, tags, mask).mean()
    torch.testing.assert_close(head.loss(scores, {"tags": tags, "mask": mask}), expected)
    assert all(a is b for a, b in zip(head.chain(), (crf.transitions, crf.start, crf.end), strict=True))


def test_a_crf_with_another_number_of_tags_is_refused() -> None:
    with pytest.raises(InputError, match="a CRF with 4 tags, as the scores have, got 3"):
        CRFHead(scores=Scores(width=2, num_tags=4, direct={}), crf=CRF(3))
