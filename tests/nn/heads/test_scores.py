"""Tests scores: a linear layer and direct feature weights, alone and together."""

from __future__ import annotations

import torch

from gonie.nn import Scores

FEATURES = {
    "mask": torch.ones(1, 2, dtype=torch.bool),
    "spelling.ids": torch.tensor([0, 2, 2]),
    "spelling.offsets": torch.tensor([0, 2, 3]),
    "context.ids": torch.tensor([1]),
    "context.offsets": torch.tensor([0, 0, 1]),
}


def test_direct_weights_start_at_0_and_are_added() -> None:
    scores, states = Scores(width=4, num_tags=3, direct={"spelling": 3, "context": 2}), torch.randn(1, 2, 4)
    linear = states @ scores.weight.t() + scores.bias
    torch.testing.assert_close(scores(states, FEATURES), linear)
    with torch.no_grad():
        for part in scores.direct.values():
            part.weight.normal_()
    spelling, context = scores.direct["spelling"].weight, scores.direct["context"].weight
    expected = linear + torch.stack([spelling[0] + spelling[2], spelling[2] + context[1]])
    torch.testing.assert_close(scores(states, FEATURES), expected)


def test_width_0_uses_bias_and_features_only() -> None:
    scores = Scores(width=0, num_tags=3, direct={"spelling": 3})
    assert set(scores.state_dict()) == {"bias", "direct.spelling.weight"}
    with torch.no_grad():
        scores.bias.copy_(torch.tensor([1.0, 2.0, 3.0]))
    assert scores(torch.empty(1, 2, 0), FEATURES).tolist() == [[[1.0, 2.0, 3.0]] * 2]
