"""The head of a few-shot classifier."""

from __future__ import annotations

import torch

from gonie.nn.heads import Cosine, NearestScores, TextSupportHead
from gonie.nn.heads.support import FittedHead

WIDTH, LABELS = 4, 3


def test_every_support_text_gets_its_own_label() -> None:
    head = TextSupportHead(scores=NearestScores(width=WIDTH, num_tags=LABELS, space=Cosine()))
    vectors, labels = torch.randn(9, WIDTH), torch.tensor([0, 1, 2, 0, 1, 2, -1, 1, 0])
    assert isinstance(head, FittedHead)
    head.fit(head.support(vectors, {"labels": labels}))
    known = labels >= 0
    assert torch.equal(head.score(vectors, {"labels": labels}).argmax(1)[known], labels[known])


def test_the_loss_of_an_episode_is_that_of_its_queries() -> None:
    head = TextSupportHead(scores=NearestScores(width=WIDTH, num_tags=LABELS, space=Cosine()))
    vectors, labels = torch.randn(6, WIDTH), torch.tensor([0, 1, 2, 0, 1, 2])
    support = torch.tensor([True, True, True, False, False, False])
    scores = head.score(vectors, {"labels": labels, "support": support})
    torch.testing.assert_close(scores, head.scores.compare(vectors, vectors[:3], labels[:3]))
    loss = head.loss(scores, {"labels": labels, "support": support})
    torch.testing.assert_close(loss, torch.nn.functional.cross_entropy(scores[3:], labels[3:]))
