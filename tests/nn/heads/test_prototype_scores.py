"""Prototypes score by squared distances to the mean of each tag."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor

from gonie.nn.heads import Cosine, Euclidean, PrototypeScores
from gonie.nn.heads.support_scale import ABSENT

WIDTH, TAGS, SIZE = 6, 4, 40
STATES, SUPPORT = torch.Size([3, 5, WIDTH]), torch.Size([SIZE, WIDTH])


def support() -> tuple[Tensor, Tensor, Tensor]:
    """Return states around a mean of each tag but the last, which has no support, in 8 examples."""
    tags = torch.randint(0, TAGS - 1, (SIZE,))
    return torch.randn(SUPPORT) + torch.randn(TAGS, WIDTH)[tags], tags, torch.arange(SIZE) // 5


@pytest.mark.parametrize("space", [Euclidean(), Cosine()])
def test_probabilities_are_a_softmax_of_negative_squared_distances(space: Euclidean | Cosine) -> None:
    """The linear form leaves out ‖s‖², which must not change any probability."""
    scores = PrototypeScores(width=WIDTH, num_tags=TAGS, space=space)
    states, tags, examples = support()
    scores.fit(states, tags, examples)
    means = torch.stack([space.mean(space(states[tags == k]).mean(0)) for k in range(TAGS - 1)])
    scale = float((scores.weight[0] / (2 * means[0])).mean())
    asked = torch.randn(STATES)
    distances = (space(asked)[..., None, :] - means).square().sum(-1)  # (…, K - 1)
    wanted = (-scale * distances).softmax(-1)
    got = scores(asked).softmax(-1)
    torch.testing.assert_close(got[..., : TAGS - 1], wanted, atol=1e-5, rtol=1e-4)
    assert got[..., TAGS - 1].max() == 0.0, "a tag without support is never predicted"


@pytest.mark.parametrize("space", [Euclidean(), Cosine()])
def test_the_scale_has_the_best_likelihood_when_each_example_is_left_out(space: Euclidean | Cosine) -> None:
    scores = PrototypeScores(width=WIDTH, num_tags=TAGS, space=space)
    states, tags, examples = support()
    scores.fit(states, tags, examples)
    means = torch.stack([space.mean(space(states[tags == k]).mean(0)) for k in range(TAGS - 1)])
    found = float((scores.weight[0] / (2 * means[0])).mean())

    def loss(scale: float) -> float:
        total = 0.0
        for row in range(SIZE):
            others = examples != examples[row]
            parts = [space(states[others & (tags == k)]) for k in range(TAGS - 1)]
            kept = [k for k, part in enumerate(parts) if len(part)]
            if int(tags[row]) not in kept:
                continue
            distances = torch.stack(
                [(space(states[row]) - space.mean(parts[k].mean(0))).square().sum() for k in kept]
            )
            total -= float((-scale * distances).log_softmax(0)[kept.index(int(tags[row]))])
        return total

    step = 100 ** (2 / 40)
    assert loss(found) <= min(loss(found * step), loss(found / step)) + 1e-4


def test_an_episode_has_the_prototypes_of_its_support_and_gradients() -> None:
    scores = PrototypeScores(width=WIDTH, num_tags=TAGS, space=Euclidean())
    states, tags, _ = support()
    states.requires_grad_()
    asked = torch.randn(STATES)
    got = scores.compare(asked, states, tags)
    means = torch.stack([states[tags == k].mean(0) for k in range(TAGS - 1)])
    distances = (asked[..., None, :] - means).square().sum(-1)
    torch.testing.assert_close(got[..., : TAGS - 1].log_softmax(-1), (-distances).log_softmax(-1))
    assert (got[..., TAGS - 1] == ABSENT).all()
    got[..., : TAGS - 1].log_softmax(-1)[..., 0].sum().backward()  # type: ignore[no-untyped-call]
    assert states.grad is not None
    assert torch.isfinite(states.grad).all()
    assert states.grad.abs().sum() > 0


def test_a_single_example_of_each_tag_keeps_the_initial_scale() -> None:
    scores = PrototypeScores(width=2, num_tags=2, space=Euclidean())
    scores.fit(torch.eye(2), torch.tensor([0, 1]), torch.tensor([0, 1]))
    torch.testing.assert_close(scores.weight, 2 * torch.eye(2))
