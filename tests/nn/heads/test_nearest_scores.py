"""Nearest scores are squared distances to the nearest support state of each tag."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch
from torch import Tensor, nn

from gonie.nn.heads import Cosine, Euclidean, NearestScores
from gonie.nn.heads.support_scale import ABSENT

WIDTH, TAGS, SIZE = 6, 4, 40


def support() -> tuple[Tensor, Tensor, Tensor]:
    """Return random states in 8 examples. The tag 1 has no support."""
    tags = torch.tensor([0, 2, 3])[torch.randint(0, 3, (SIZE,))]
    return torch.randn(SIZE, WIDTH), tags, torch.arange(SIZE) // 5


def scale_of(scores: NearestScores, space: Euclidean | Cosine, states: Tensor, tags: Tensor) -> float:
    return float(scores.weight[0].norm() / (2 * space(states[tags == 0][0])).norm())


@pytest.mark.parametrize("space", [Euclidean(), Cosine()])
def test_probabilities_are_those_of_a_search_over_all_pairs(space: Euclidean | Cosine) -> None:
    scores = NearestScores(width=WIDTH, num_tags=TAGS, space=space)
    states, tags, examples = support()
    scores.fit(states, tags, examples)
    scale = scale_of(scores, space, states, tags)
    asked = torch.randn(3, 5, WIDTH)
    got = scores(asked).softmax(-1)
    assert got.shape == (3, 5, TAGS)
    for row in range(3):
        for token in range(5):
            one = space(asked[row, token])
            nearest = [
                min(float((one - space(state)).square().sum()) for state in states[tags == k])
                for k in (0, 2, 3)
            ]
            wanted = (-scale * torch.tensor(nearest)).softmax(0)
            torch.testing.assert_close(got[row, token, [0, 2, 3]], wanted, atol=1e-5, rtol=1e-4)
    assert got[..., 1].max() == 0.0, "a tag without support is never predicted"


def test_a_support_state_has_its_own_tag_as_nearest() -> None:
    scores = NearestScores(width=WIDTH, num_tags=TAGS, space=Euclidean())
    states, tags, examples = support()
    scores.fit(states, tags, examples)
    assert torch.equal(scores(states).argmax(-1), tags)


def test_a_saved_support_loads_into_a_new_part(through_a_file: Callable[..., nn.Module]) -> None:
    """The number of support states is known only when they are loaded."""
    scores = NearestScores(width=WIDTH, num_tags=TAGS, space=Cosine())
    scores.fit(*support())
    copy = through_a_file(scores, NearestScores(width=WIDTH, num_tags=TAGS, space=Cosine()))
    asked = torch.randn(7, WIDTH)
    assert torch.equal(copy(asked), scores(asked))


def test_fitting_again_replaces_the_support() -> None:
    one, other = (NearestScores(width=WIDTH, num_tags=TAGS, space=Cosine()) for _ in range(2))
    first, second = support(), support()
    one.fit(*first)
    one.fit(*second)
    other.fit(*second)
    assert torch.equal(one.weight, other.weight)
    assert torch.equal(one.bias, other.bias)


def test_an_episode_sums_over_its_support_softly() -> None:
    scores = NearestScores(width=WIDTH, num_tags=TAGS, space=Euclidean())
    states, tags, _ = support()
    asked = torch.randn(7, WIDTH)
    got = scores.compare(asked, states, tags)
    for k in (0, 2, 3):
        distances = (asked[:, None] - states[tags == k]).square().sum(-1)  # (7, n)
        wanted = (-distances).logsumexp(1) + asked.square().sum(1)
        torch.testing.assert_close(got[:, k], wanted, atol=1e-4, rtol=1e-4)
    assert (got[:, 1] < ABSENT / 2).all()
