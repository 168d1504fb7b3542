"""Compares the softmax head with an explicit sum over tokens."""

from __future__ import annotations

import torch

from gonie.nn import Scores, SoftmaxHead

HEAD = SoftmaxHead(scores=Scores(width=2, num_tags=3, direct={}))


def test_the_loss_averages_sentence_sums_without_unknown_tags() -> None:
    scores, tags = torch.randn(2, 3, 3), torch.tensor([[0, 2, 1], [1, -1, -1]])
    tags[0, 1] = -1  # unknown gold tag within a sentence
    mask = torch.tensor([[True, True, True], [True, False, False]])
    log_p = scores.log_softmax(2)
    expected = -(log_p[0, 0, 0] + log_p[0, 2, 1] + log_p[1, 0, 1]) / 2
    torch.testing.assert_close(HEAD.loss(scores, {"tags": tags, "mask": mask}), expected)


def test_the_chain_is_zero() -> None:
    assert not any(part.any() for part in HEAD.chain())
