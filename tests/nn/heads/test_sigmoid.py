"""Tests the sigmoid head: the scores of its two tags must match the sigmoid."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from gonie.errors import InputError
from gonie.nn import Scores, SigmoidHead
from gonie.nn.heads.objectives import Weighted

Batch = dict[str, Tensor]
LENGTHS = [6, 1, 4]


def head(outside: int = 0, objective: nn.Module | None = None, **direct: int) -> SigmoidHead:
    return SigmoidHead(
        scores=Scores(width=4, num_tags=1, direct=direct),
        outside=outside,
        objective=objective,  # type: ignore[arg-type]
    )


@pytest.mark.parametrize("outside", [0, 1])
@pytest.mark.parametrize("direct", [{}, {"spelling": 9}])
def test_the_loss_is_binary_cross_entropy(
    outside: int,
    direct: dict[str, int],
    make_batch: Callable[..., Batch],
    scramble: Callable[[nn.Module], nn.Module],
) -> None:
    part, batch = scramble(head(outside, **direct)), make_batch(LENGTHS, tags=2)
    assert isinstance(part, SigmoidHead)
    states = torch.randn(3, 6, 4)
    scores = part.score(states, batch)
    assert scores.shape == (3, 6, 2)
    assert not scores[..., outside].any()
    z, y = scores[..., 1 - outside], (batch["tags"] != outside).float()
    torch.testing.assert_close(z, part.scores(states, batch)[..., 0])
    losses = F.binary_cross_entropy_with_logits(z, y, reduction="none").where(batch["mask"], 0.0)
    torch.testing.assert_close(part.loss(scores, batch), losses.sum(1).mean())
    torch.testing.assert_close(scores.softmax(2)[..., 1 - outside], z.sigmoid())
    assert [tuple(weight.shape) for weight in part.chain()] == [(2, 2), (2,), (2,)]
    assert not any(weight.any() for weight in part.chain())


def test_weights_multiply_the_loss_of_their_tag(make_batch: Callable[..., Batch]) -> None:
    """Rare names can be given more weight."""
    batch, scores = make_batch(LENGTHS, tags=2), torch.randn(3, 6, 2)
    heavy = head(objective=Weighted(torch.tensor([1.0, 3.0]))).loss(scores, batch)
    losses = F.cross_entropy(scores.flatten(0, 1), batch["tags"].flatten(), reduction="none", ignore_index=-1)
    weights = torch.tensor([1.0, 3.0])[batch["tags"].clamp(min=0)]
    torch.testing.assert_close(heavy, (losses.view(3, 6) * weights).where(batch["mask"], 0.0).sum(1).mean())


def test_more_than_one_output_is_refused() -> None:
    with pytest.raises(InputError, match="1 output, got 2"):
        SigmoidHead(scores=Scores(width=4, num_tags=2, direct={}))
