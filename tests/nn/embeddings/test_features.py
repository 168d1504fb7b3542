"""Compares sparse feature embeddings with explicit sums."""

from __future__ import annotations

import torch

from gonie.nn import FeatureEmbedding


def test_a_position_is_the_sum_of_its_features(device: str) -> None:
    part = FeatureEmbedding(group="context", size=5, width=3).to(device)
    ids, counts = [0, 4, 4, 2, 1], [2, 0, 1, 2]  # (B, T) = (2, 2); the second position has none
    offsets = torch.tensor([0, *torch.tensor(counts).cumsum(0).tolist()], device=device)
    mask = torch.ones(2, 2, dtype=torch.bool, device=device)
    got = part({"mask": mask, "context.ids": torch.tensor(ids, device=device), "context.offsets": offsets})
    w = part.weight
    expected = torch.stack([w[0] + w[4], torch.zeros(3, device=device), w[4], w[2] + w[1]]).view(2, 2, 3)
    torch.testing.assert_close(got, expected)


def test_a_batch_without_features_gives_zeros_and_no_gradient(device: str) -> None:
    part = FeatureEmbedding(group="gazetteer", size=5, width=3).to(device)
    none = torch.empty(0, dtype=torch.long, device=device)
    got = part(
        {
            "mask": torch.ones(2, 2, dtype=torch.bool, device=device),
            "gazetteer.ids": none,
            "gazetteer.offsets": torch.zeros(5, dtype=torch.long, device=device),
        }
    )
    assert not got.any()
    got.sum().backward()
    assert part.weight.grad is not None
    assert not part.weight.grad.any()
