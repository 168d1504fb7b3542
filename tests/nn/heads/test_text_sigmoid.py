"""Tests the sigmoid head of texts: the scores of its two labels must match the sigmoid."""

from __future__ import annotations

import pytest
import torch
import torch.nn.functional as F

from gonie.errors import InputError
from gonie.nn import TextScores, TextSigmoidHead


def test_the_loss_is_binary_cross_entropy() -> None:
    head = TextSigmoidHead(scores=TextScores(width=4, num_labels=1, direct={}))
    vectors, gold = torch.randn(5, 4), torch.tensor([0, 1, 1, 1, 0])
    scores, z = head.score(vectors, {}), head.scores(vectors, {})[:, 0]
    assert not scores[:, 0].any()
    torch.testing.assert_close(scores.softmax(1)[:, 1], z.sigmoid())
    expected = F.binary_cross_entropy_with_logits(z, gold.float())
    torch.testing.assert_close(head.loss(scores, {"labels": gold}), expected)


def test_more_than_one_output_is_refused() -> None:
    with pytest.raises(InputError, match="1 output, got 2"):
        TextSigmoidHead(scores=TextScores(width=4, num_labels=2, direct={}))
