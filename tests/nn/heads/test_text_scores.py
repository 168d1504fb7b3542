"""Tests the scores of texts: a linear layer and direct n-gram weights, alone and together."""

from __future__ import annotations

import torch

from gonie.nn import TextScores

GRAMS = {
    "bag.ids": torch.tensor([0, 2, 2, 2, 1]),
    "bag.offsets": torch.tensor([0, 4, 5, 5]),
    "spelling.ids": torch.tensor([1]),
    "spelling.offsets": torch.tensor([0, 0, 0, 1]),
}


def test_direct_weights_start_at_0_and_are_scaled_by_their_count() -> None:
    scores, vectors = TextScores(width=4, num_labels=3, direct={"bag": 3, "spelling": 2}), torch.randn(3, 4)
    linear = vectors @ scores.weight.t() + scores.bias
    torch.testing.assert_close(scores(vectors, GRAMS), linear)
    with torch.no_grad():
        for part in scores.direct.values():
            part.weight.normal_()
    bag, spelling = scores.direct["bag"].weight, scores.direct["spelling"].weight
    expected = linear + torch.stack([(bag[0] + 3 * bag[2]) / 2, bag[1], spelling[1]])
    torch.testing.assert_close(scores(vectors, GRAMS), expected)


def test_width_0_is_a_linear_model_of_n_grams() -> None:
    scores = TextScores(width=0, num_labels=2, direct={"bag": 3})
    assert set(scores.state_dict()) == {"bias", "direct.bag.weight"}
    with torch.no_grad():
        scores.bias.copy_(torch.tensor([1.0, 2.0]))
    assert scores(torch.empty(3, 0), GRAMS).tolist() == [[1.0, 2.0]] * 3


def test_direct_weights_may_have_their_own_learning_rate() -> None:
    asked = TextScores(width=2, num_labels=2, direct={"bag": 3}, direct_rate=5.0)
    assert {name: part.rate_scale for name, part in asked.named_modules() if hasattr(part, "rate_scale")} == {
        "direct": 5.0
    }
    for silent in (
        TextScores(width=2, num_labels=2, direct={"bag": 3}),
        TextScores(width=2, num_labels=2, direct={}, direct_rate=5.0),
    ):
        assert not any(hasattr(part, "rate_scale") for part in silent.modules())
