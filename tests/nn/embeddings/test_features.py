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


def test_features_are_dropped_one_by_one_in_training_only(device: str) -> None:
    part = FeatureEmbedding(group="context", size=4, width=1, dropout=0.25).to(device)
    with torch.no_grad():
        part.weight.copy_(torch.tensor([[1.0], [10.0], [100.0], [1000.0]]))
    positions = 4000
    batch = {
        "mask": torch.ones(1, positions, dtype=torch.bool, device=device),
        "context.ids": torch.arange(4, device=device).repeat(positions),
        "context.offsets": torch.arange(0, 4 * positions + 1, 4, device=device),
    }
    digits = (part(batch) * 0.75).round().int().flatten().tolist()
    assert set("".join(map(str, digits))) == {"0", "1"}
    assert len(set(digits)) == 16, "every combination of four features"
    assert abs(part(batch).mean().item() - 1111) < 40, "the mean is preserved"
    assert set(part.eval()(batch).flatten().tolist()) == {1111.0}


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
