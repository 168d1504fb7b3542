"""Tests that every head of a classifier must pass. Add a new head to HEADS.

If one of these fails, the loss depends on how texts are batched, or a saved model differs from the trained
one.
"""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch
from torch import Tensor, nn

from gonie.nn import MultiLabelHead, TextScores, TextSigmoidHead, TextSoftmaxHead
from gonie.nn.heads.text_objectives import AnyNumber, OneOf

Batch = dict[str, Tensor]
TEXTS, WIDTH, LABELS, GRAMS = 6, 4, 5, 9
WEIGHTS = torch.arange(1.0, LABELS + 1)


def softmax(width: int, **direct: int) -> nn.Module:
    return TextSoftmaxHead(scores=TextScores(width=width, num_labels=LABELS, direct=direct))


def softmax_weighted(width: int, **direct: int) -> nn.Module:
    scores = TextScores(width=width, num_labels=LABELS, direct=direct)
    return TextSoftmaxHead(scores=scores, objective=OneOf(weights=WEIGHTS, smoothing=0.1))


def sigmoid(width: int, **direct: int) -> nn.Module:
    return TextSigmoidHead(scores=TextScores(width=width, num_labels=1, direct=direct))


def labels(width: int, **direct: int) -> nn.Module:
    return MultiLabelHead(scores=TextScores(width=width, num_labels=LABELS, direct=direct))


def labels_weighted(width: int, **direct: int) -> nn.Module:
    scores = TextScores(width=width, num_labels=LABELS, direct=direct)
    return MultiLabelHead(scores=scores, objective=AnyNumber(weights=WEIGHTS, smoothing=0.1))


KINDS = {kind.__name__: kind for kind in (softmax, softmax_weighted, sigmoid, labels, labels_weighted)}
Case = tuple[Callable[[], nn.Module], int]
HEADS: dict[str, Case] = {
    **{name: (lambda kind=kind: kind(WIDTH), WIDTH) for name, kind in KINDS.items()},
    **{f"{name}_direct": (lambda kind=kind: kind(WIDTH, bag=GRAMS), WIDTH) for name, kind in KINDS.items()},
    **{f"{name}_direct_only": (lambda kind=kind: kind(0, bag=GRAMS), 0) for name, kind in KINDS.items()},
}


@pytest.fixture(params=HEADS)
def case(request: pytest.FixtureRequest) -> Case:
    return HEADS[request.param]


def batch_for(head: nn.Module) -> Batch:
    counts = torch.tensor([0, 3, 0, 5, 1, 2, 4])
    if isinstance(head, MultiLabelHead):
        gold = torch.randint(0, 2, (TEXTS, LABELS)).float()
    else:
        gold = torch.randint(0, 2 if isinstance(head, TextSigmoidHead) else LABELS, (TEXTS,))
    return {
        "bag.ids": torch.randint(0, GRAMS, (int(counts.sum()),)),
        "bag.offsets": counts.cumsum(0),
        "labels": gold,
    }


def text(batch: Batch, row: int) -> Batch:
    start, end = batch["bag.offsets"][row : row + 2].tolist()
    return {
        "bag.ids": batch["bag.ids"][start:end],
        "bag.offsets": torch.tensor([0, end - start]),
        "labels": batch["labels"][row : row + 1],
    }


def test_shapes(case: Case, device: str) -> None:
    build, width = case
    head = build().to(device)
    batch = {name: value.to(device) for name, value in batch_for(head).items()}
    scores = head.score(torch.randn(TEXTS, width, device=device), batch)
    assert scores.shape == (TEXTS, 2 if isinstance(head, TextSigmoidHead) else LABELS)
    assert head.loss(scores, batch).shape == ()


def test_the_loss_is_the_mean_of_the_losses_of_single_texts(
    case: Case, scramble: Callable[[nn.Module], nn.Module]
) -> None:
    build, width = case
    head, vectors = scramble(build()), torch.randn(TEXTS, width)
    batch = batch_for(head)
    scores, alone = head.score(vectors, batch), []
    for row in range(TEXTS):
        one = text(batch, row)
        score = head.score(vectors[row : row + 1], one)
        torch.testing.assert_close(score, scores[row : row + 1], atol=1e-6, rtol=1e-5)
        alone.append(head.loss(score, one))
    torch.testing.assert_close(head.loss(scores, batch), torch.stack(alone).mean())


def test_a_saved_and_loaded_head_gives_the_same_scores(
    case: Case,
    scramble: Callable[[nn.Module], nn.Module],
    through_a_file: Callable[[nn.Module, nn.Module], nn.Module],
) -> None:
    """The file has only trained weights. The weights of labels come from the recipe."""
    build, width = case
    head, vectors = scramble(build()), torch.randn(TEXTS, width)
    batch = batch_for(head)
    copy = through_a_file(head, build())
    assert torch.equal(copy.score(vectors, batch), head.score(vectors, batch))
    assert set(head.state_dict()) == {name for name, _ in head.named_parameters()}


def test_gradients_reach_every_weight(case: Case) -> None:
    build, width = case
    head = build()
    batch = batch_for(head)
    head.loss(head.score(torch.randn(TEXTS, width), batch), batch).backward()
    for name, weight in head.named_parameters():
        assert weight.grad is not None, name
        assert weight.grad.abs().sum() > 0, name


def test_training_lowers_the_loss(case: Case) -> None:
    """Fails if the sign of the loss is wrong, or if texts without n-grams break training."""
    build, width = case
    head, vectors = build(), torch.randn(TEXTS, width)
    batch = batch_for(head)
    optimizer = torch.optim.SGD(head.parameters(), lr=0.1)
    losses = []
    for _ in range(20):
        optimizer.zero_grad()
        loss = head.loss(head.score(vectors, batch), batch)
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    assert losses[-1] < losses[0]


def test_the_same_seed_gives_the_same_loss(case: Case, scramble: Callable[[nn.Module], nn.Module]) -> None:
    build, width = case
    losses = []
    for _ in range(2):
        torch.manual_seed(7)
        head = scramble(build())
        batch = batch_for(head)
        losses.append(head.loss(head.score(torch.randn(TEXTS, width), batch), batch))
    assert torch.equal(*losses)
