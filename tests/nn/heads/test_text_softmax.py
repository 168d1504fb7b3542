"""Tests the softmax head of texts: its loss is the cross-entropy."""

from __future__ import annotations

import torch
import torch.nn.functional as F

from gonie.nn import TextScores, TextSoftmaxHead


def test_the_loss_is_cross_entropy() -> None:
    head = TextSoftmaxHead(scores=TextScores(width=4, num_labels=3, direct={}))
    vectors, gold = torch.randn(5, 4), torch.tensor([0, 2, 1, 1, 0])
    scores = head.score(vectors, {})
    torch.testing.assert_close(head.loss(scores, {"labels": gold}), F.cross_entropy(scores, gold))
