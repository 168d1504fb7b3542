"""Tests that every tagging head must pass. Add a new head to HEADS.

If one of these fails, the loss depends on how sentences are batched, or a saved model differs from the
trained one.
"""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch
from torch import Tensor, nn

from gonie.nn import CRF, CRFHead, Scores, SoftmaxHead
from gonie.nn.heads import Cosine, Euclidean, NearestScores, PartScores, PrototypeScores, SupportHead
from gonie.nn.heads.objectives import AnyOf, Weighted
from gonie.nn.heads.support import SupportStates

Batch = dict[str, Tensor]
LENGTHS = [6, 1, 4, 6, 3]
WIDTH, TAGS = 4, 5


def softmax(width: int, **direct: int) -> nn.Module:
    return SoftmaxHead(scores=Scores(width=width, num_tags=TAGS, direct=direct))


def crf(width: int, **direct: int) -> nn.Module:
    return CRFHead(scores=Scores(width=width, num_tags=TAGS, direct=direct), crf=CRF(TAGS))


def part(width: int, **direct: int) -> nn.Module:
    """Return a head for partial labels: here each number stands for its own tag or the first one."""
    options = torch.eye(TAGS, dtype=torch.bool)
    options[:, 0] = True
    scores = Scores(width=width, num_tags=TAGS, direct=direct)
    return CRFHead(scores=scores, crf=CRF(TAGS), objective=AnyOf(options))


def parts(width: int, **direct: int) -> nn.Module:
    members = [[0], [1], [0, 1], [1, 2], [2, 0]]
    return SoftmaxHead(scores=PartScores(width=width, parts=members, direct=direct))


def weighted(width: int, **direct: int) -> nn.Module:
    scores = Scores(width=width, num_tags=TAGS, direct=direct)
    return SoftmaxHead(scores=scores, objective=Weighted(torch.arange(1.0, TAGS + 1)))


def prototypes() -> nn.Module:
    scores = PrototypeScores(width=WIDTH, num_tags=TAGS, space=Euclidean())
    return fitted(SupportHead(scores=scores))


def nearest() -> nn.Module:
    return fitted(SupportHead(scores=NearestScores(width=WIDTH, num_tags=TAGS, space=Cosine())))


def fitted(head: SupportHead) -> SupportHead:
    """Return the head with random support states, and a random chain."""
    tags = torch.arange(20) % (TAGS - 1)  # the last has no support
    head.fit(SupportStates(torch.randn(20, WIDTH), tags, torch.arange(20) // 4))
    head.set_chain(torch.randn(TAGS, TAGS), torch.randn(TAGS), torch.randn(TAGS))
    return head


KINDS = {"softmax": softmax, "crf": crf, "part": part, "parts": parts, "weighted": weighted}
HEADS: dict[str, tuple[Callable[[], nn.Module], int]] = {
    **{name: (lambda kind=kind: kind(WIDTH), WIDTH) for name, kind in KINDS.items()},
    **{f"{name}_direct": (lambda kind=kind: kind(WIDTH, spelling=9), WIDTH) for name, kind in KINDS.items()},
    **{f"{name}_direct_only": (lambda kind=kind: kind(0, spelling=9), 0) for name, kind in KINDS.items()},
    "prototypes": (prototypes, WIDTH),
    "nearest": (nearest, WIDTH),
}


@pytest.fixture(params=HEADS)
def case(request: pytest.FixtureRequest) -> tuple[Callable[[], nn.Module], int]:
    return HEADS[request.param]


@pytest.fixture
def batch(make_batch: Callable[..., Batch]) -> Batch:
    return make_batch(LENGTHS, tags=TAGS)


def states_of(width: int) -> Tensor:
    return torch.randn(len(LENGTHS), max(LENGTHS), width)


def sentence(batch: Batch, row: int) -> Batch:
    length, width = int(batch["lengths"][row]), batch["mask"].shape[1]
    offsets = batch["spelling.offsets"][row * width : row * width + length + 1]
    return {
        "mask": batch["mask"][row : row + 1, :length],
        "tags": batch["tags"][row : row + 1, :length],
        "spelling.ids": batch["spelling.ids"][offsets[0] : offsets[-1]],
        "spelling.offsets": offsets - offsets[0],
    }


def test_shapes(case: tuple[Callable[[], nn.Module], int], batch: Batch, device: str) -> None:
    build, width = case
    head, batch = build().to(device), {name: value.to(device) for name, value in batch.items()}
    scores = head.score(states_of(width).to(device), batch)
    assert scores.shape == (*batch["mask"].shape, TAGS)
    assert head.loss(scores, batch).shape == ()
    assert [tuple(part.shape) for part in head.chain()] == [(TAGS, TAGS), (TAGS,), (TAGS,)]


def test_the_loss_is_the_mean_of_the_losses_of_single_sentences(
    case: tuple[Callable[[], nn.Module], int],
    batch: Batch,
    scramble: Callable[[nn.Module], nn.Module],
) -> None:
    build, width = case
    head, states = scramble(build()), states_of(width)
    scores = head.score(states, batch)
    alone = []
    for row, length in enumerate(LENGTHS):
        one = sentence(batch, row)
        score = head.score(states[row : row + 1, :length], one)
        torch.testing.assert_close(score, scores[row : row + 1, :length], atol=1e-6, rtol=1e-5)
        alone.append(head.loss(score, one))
    torch.testing.assert_close(head.loss(scores, batch), torch.stack(alone).mean())


def test_padding_contents_do_not_matter(
    case: tuple[Callable[[], nn.Module], int],
    batch: Batch,
    scramble: Callable[[nn.Module], nn.Module],
) -> None:
    build, width = case
    head, mask = scramble(build()), batch["mask"]
    scores = head.score(states_of(width), batch)
    junk = {**batch, "tags": batch["tags"].where(mask, torch.randint(0, TAGS, mask.shape))}
    dirty = scores.where(mask.unsqueeze(2), 1e4)
    torch.testing.assert_close(head.loss(dirty, junk), head.loss(scores, batch), rtol=0, atol=0)


def test_a_saved_and_loaded_head_gives_the_same_scores_and_chain(
    case: tuple[Callable[[], nn.Module], int],
    batch: Batch,
    scramble: Callable[[nn.Module], nn.Module],
    through_a_file: Callable[[nn.Module, nn.Module], nn.Module],
) -> None:
    build, width = case
    head, states = scramble(build()), states_of(width)
    copy = through_a_file(head, build())
    assert torch.equal(copy.score(states, batch), head.score(states, batch))
    assert all(torch.equal(a, b) for a, b in zip(copy.chain(), head.chain(), strict=True))


def test_gradients_reach_every_weight(case: tuple[Callable[[], nn.Module], int], batch: Batch) -> None:
    build, width = case
    head = build()
    head.loss(head.score(states_of(width).requires_grad_(), batch), batch).backward()
    for name, weight in head.named_parameters():
        assert weight.grad is not None, name
        assert weight.grad.abs().sum() > 0, name


def test_the_same_seed_gives_the_same_loss(
    case: tuple[Callable[[], nn.Module], int], batch: Batch, scramble: Callable[[nn.Module], nn.Module]
) -> None:
    build, width = case
    losses = []
    for _ in range(2):
        torch.manual_seed(7)
        head = scramble(build())
        losses.append(head.loss(head.score(states_of(width), batch), batch))
    assert torch.equal(*losses)


def test_a_new_crf_has_the_same_loss_as_a_softmax(batch: Batch) -> None:
    """A new CRF equals a softmax at each token, so that the same learning rate suits both heads."""
    scores = torch.randn(*batch["mask"].shape, TAGS)
    torch.testing.assert_close(crf(WIDTH).loss(scores, batch), softmax(WIDTH).loss(scores, batch))
