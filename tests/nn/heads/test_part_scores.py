"""Tests scores of tags with parts: they are a linear layer whose rows are sums."""

from __future__ import annotations

import pytest
import torch

from gonie.nn import Scores
from gonie.nn.heads import PartScores

PARTS = [[0], [1, 2], [0, 2, 2]]
FEATURES = {
    "mask": torch.ones(2, 3, dtype=torch.bool),
    "spelling.ids": torch.tensor([0, 2, 2]),
    "spelling.offsets": torch.tensor([0, 2, 2, 2, 3, 3, 3]),
}


def scrambled(width: int = 4) -> PartScores:
    torch.manual_seed(0)
    scores = PartScores(width=width, parts=PARTS, direct={"spelling": 3})
    with torch.no_grad():
        for weight in scores.parameters():
            weight.normal_()
    return scores


@torch.no_grad()
def test_scores_are_sums_over_the_tag_and_its_distinct_parts() -> None:
    scores, states = scrambled(), torch.randn(2, 3, 4)
    found = scores(states, FEATURES)
    direct = scores.direct["spelling"](FEATURES)
    for b, t, k in torch.cartesian_prod(torch.arange(2), torch.arange(3), torch.arange(3)).tolist():
        rows = [scores.own.weight[k], *(scores.weight_parts[part] for part in sorted(set(PARTS[k])))]
        expected = sum(float(row @ states[b, t]) for row in rows)
        expected += float(scores.bias[k] + direct[b, t, k])
        assert float(found[b, t, k]) == pytest.approx(expected, abs=1e-5)


def test_the_sum_of_the_weights_is_that_of_plain_scores() -> None:
    """The exported graph has only the sum."""
    scores, states = scrambled(), torch.randn(2, 3, 4)
    plain = Scores(width=4, num_tags=3, direct={"spelling": 3})
    with torch.no_grad():
        plain.weight.copy_(scores.weight)
        plain.bias.copy_(scores.bias)
        plain.direct["spelling"].weight.copy_(scores.direct["spelling"].weight)
    torch.testing.assert_close(scores(states, FEATURES), plain(states, FEATURES))


def test_tags_with_the_same_parts_start_with_the_same_scores() -> None:
    scores = PartScores(width=4, parts=[[0, 1], [1, 0], [2]], direct={})
    first, same, other = scores(torch.randn(1, 1, 4), {})[0, 0].tolist()
    assert first == pytest.approx(same)
    assert first != pytest.approx(other)


def test_width_0_has_no_weights_of_parts() -> None:
    scores = PartScores(width=0, parts=PARTS, direct={"spelling": 3})
    assert set(scores.state_dict()) == {"members", "own.bias", "own.direct.spelling.weight"}
    assert scores.weight is None
    assert scores(torch.empty(2, 3, 0), FEATURES).shape == (2, 3, 3)
