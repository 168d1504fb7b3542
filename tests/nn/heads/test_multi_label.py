"""Tests the multi-label head: each label is predicted independently."""

from __future__ import annotations

import torch
import torch.nn.functional as F

from gonie.nn import MultiLabelHead, TextScores


def test_the_loss_is_binary_cross_entropy_summed_over_labels() -> None:
    head = MultiLabelHead(scores=TextScores(width=4, num_labels=3, direct={}))
    vectors, gold = torch.randn(5, 4), torch.randint(0, 2, (5, 3)).float()
    scores = head.score(vectors, {})
    expected = F.binary_cross_entropy_with_logits(scores, gold, reduction="sum") / 5
    torch.testing.assert_close(head.loss(scores, {"labels": gold}), expected)


def test_the_score_of_a_label_is_trained_by_that_label_only() -> None:
    """With a softmax, one label would lower the scores of the others."""
    head = MultiLabelHead(scores=TextScores(width=4, num_labels=3, direct={}))
    gradients = []
    for other in (0.0, 1.0):
        scores = torch.zeros(1, 3, requires_grad=True)
        head.loss(scores, {"labels": torch.tensor([[1.0, other, 0.0]])}).backward()
        assert scores.grad is not None
        gradients.append(scores.grad[0, [0, 2]])
    assert torch.equal(*gradients)
