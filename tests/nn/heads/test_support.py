"""The head of a few-shot tagger: its support, its chain, and its loss in an episode."""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor

from gonie.nn.heads import Euclidean, PrototypeScores, SupportHead
from gonie.nn.heads.support import FittedHead

WIDTH, TAGS, LENGTHS = 4, 3, [5, 2, 4, 3]


def head() -> SupportHead:
    return SupportHead(scores=PrototypeScores(width=WIDTH, num_tags=TAGS, space=Euclidean()))


def test_only_tagged_tokens_are_support(make_batch: Callable[..., dict[str, Tensor]]) -> None:
    """Padding and untagged tokens must not move a prototype."""
    batch = make_batch(LENGTHS, tags=TAGS)
    batch["tags"][0, 1] = -1
    states = torch.randn(4, 5, WIDTH)
    found = head().support(states, batch)
    assert len(found.states) == sum(LENGTHS) - 1
    assert (found.tags >= 0).all()
    assert found.examples.bincount().tolist() == [4, 2, 4, 3]


def test_the_loss_of_an_episode_is_that_of_its_queries(make_batch: Callable[..., dict[str, Tensor]]) -> None:
    batch = make_batch(LENGTHS, tags=TAGS)
    batch["support"] = torch.tensor([True, False, True, False])
    part, states = head(), torch.randn(4, 5, WIDTH)
    scores = part.score(states, batch)
    own = batch["mask"] & batch["support"][:, None]
    wanted = part.scores.compare(states, states[own], batch["tags"][own])
    torch.testing.assert_close(scores, wanted)
    queries = {name: batch[name][~batch["support"]] for name in ("tags", "mask")}
    torch.testing.assert_close(part.loss(scores, batch), part.loss(scores[~batch["support"]], queries))


def test_query_tokens_whose_tag_has_no_support_do_not_count(
    make_batch: Callable[..., dict[str, Tensor]],
) -> None:
    """Otherwise one token of an unseen tag outweighs the whole episode."""
    batch = make_batch(LENGTHS, tags=TAGS)
    batch["support"] = torch.tensor([True, False, True, False])
    batch["tags"][batch["support"]] = batch["tags"][batch["support"]] % 2  # no support has the tag 2
    batch["tags"][1, 0], batch["tags"][1, 1] = 2, 1
    batch["tags"][3] = 0
    part, states = head(), torch.randn(4, 5, WIDTH)
    scores = part.score(states, batch)
    logs = scores.log_softmax(2)
    wanted = -(logs[1, 1, 1] + logs[3, :3, 0].sum()) / 2
    torch.testing.assert_close(part.loss(scores, batch), wanted)


def test_a_fitted_head_is_recognised_by_its_methods() -> None:
    assert isinstance(head(), FittedHead)
