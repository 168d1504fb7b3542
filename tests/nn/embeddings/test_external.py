"""External vectors: the formula, and that zeros stay zeros."""

from __future__ import annotations

import torch

from gonie.nn import ExternalEmbedding
from gonie.nn.protocols import ContextualEmbedding

VECTORS = torch.tensor([[[3.0, 4.0], [0.0, 0.0]], [[0.0, -2.0], [1.0, 1.0]]])  # (2, 2, 2)


def part(**changes: object) -> ExternalEmbedding:
    plain = {"given": 2, "places": ("input",), "projection": 0, "normalize": False, "dropout": 0.0}
    return ExternalEmbedding(**{**plain, **changes})  # type: ignore[arg-type]


def test_without_a_projection_the_vectors_are_those_given() -> None:
    assert torch.equal(part()({"external": VECTORS}), VECTORS)


def test_normalised_vectors_have_length_one_and_zeros_stay_zeros() -> None:
    found = part(normalize=True)({"external": VECTORS})
    half = 0.5**0.5
    expected = torch.tensor([[[0.6, 0.8], [0.0, 0.0]], [[0.0, -1.0], [half, half]]])
    torch.testing.assert_close(found, expected)


def test_a_projection_is_linear_after_normalisation() -> None:
    embedding = part(projection=1, normalize=True)
    assert embedding.projection is not None
    with torch.no_grad():
        embedding.projection.weight.copy_(torch.tensor([[10.0, 1.0]]))
        embedding.projection.bias.fill_(0.5)
    found = embedding({"external": VECTORS})
    torch.testing.assert_close(found[0], torch.tensor([[6.0 + 0.8 + 0.5], [0.5]]))


def test_both_places_have_the_same_vectors() -> None:
    embedding = part(places=("input", "output"), projection=3)
    found = embedding({"external": VECTORS})
    assert (embedding.width, embedding.place_width) == (6, 3)
    assert torch.equal(found[..., :3], found[..., 3:])


def test_it_has_the_role_of_a_source_without_penalty_or_report() -> None:
    embedding = part(projection=3)
    assert isinstance(embedding, ContextualEmbedding)
    assert embedding.penalty().item() == 0
    assert embedding.report() == []
    assert set(embedding.state_dict()) == {"projection.weight", "projection.bias"}


def test_dropout_is_only_for_training() -> None:
    embedding = part(dropout=0.5)
    torch.manual_seed(1)
    assert (embedding.train()({"external": VECTORS + 1}) == 0).any()
    assert torch.equal(embedding.eval()({"external": VECTORS}), VECTORS)
