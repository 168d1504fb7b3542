"""Tests contextual embeddings (ELMo): which weights are trained, and cached layers."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch
from torch import Tensor, nn

from gonie.nn import ElmoEmbedding, ScalarMix
from gonie.nn.protocols import ContextualEmbedding
from gonie.tasks.language_model.shape import BilmConfig
from gonie.tasks.language_model.torch.build import build_bilm

Batch = dict[str, Tensor]
LENGTHS = [5, 1, 3]
PLACES = ("input", "output")
SHAPE = BilmConfig(byte_width=3, filters=[(1, 4), (3, 4)], width=3, hidden=5, dropout=0.5)


@pytest.fixture
def batch(make_batch: Callable[..., Batch]) -> Batch:
    return make_batch(LENGTHS)


@pytest.fixture
def elmo(scramble: Callable[[nn.Module], nn.Module]) -> Callable[..., ElmoEmbedding]:
    """Make embeddings over a language model whose layers differ clearly."""

    def make(
        mixes: int = 1, *, tuned: bool = False, dropout: float = 0.0, penalty: float = 0.0
    ) -> ElmoEmbedding:
        bilm = build_bilm(SHAPE)
        scramble(bilm)
        parts = {place: ScalarMix(layers=bilm.layers) for place in PLACES[:mixes]}
        return ElmoEmbedding(bilm=bilm, mixes=parts, tuned=tuned, dropout=dropout, penalty=penalty)

    return make


def kept(part: ElmoEmbedding, batch: Batch) -> Batch:
    """Return the batch with the cached layers of the language model instead of the bytes."""
    with torch.no_grad():
        layers = part.bilm.eval()(batch["bytes"], batch["forms"] + 2, batch["mask"])  # (L, B, T, 2P)
    return {"mask": batch["mask"], "elmo.context": layers.permute(1, 2, 0, 3).half()}


@torch.no_grad()
def test_vectors_are_the_concatenated_mixes_of_the_layers(
    elmo: Callable[..., ElmoEmbedding], batch: Batch
) -> None:
    part = elmo(2).eval()
    one, other = part.mixes
    one.weights.copy_(torch.tensor([9.0, 0.0, 0.0]))  # type: ignore[operator,union-attr]
    other.weights.copy_(torch.tensor([0.0, 0.0, 9.0]))  # type: ignore[operator,union-attr]
    layers = part.bilm(batch["bytes"], batch["forms"] + 2, batch["mask"])
    wanted = torch.cat([one(layers), other(layers)], dim=2)
    assert part.width == wanted.shape[2] == 2 * part.bilm.width
    torch.testing.assert_close(part(batch), wanted)
    assert not torch.allclose(*part(batch).chunk(2, dim=2), atol=0.1)


@torch.no_grad()
def test_cached_layers_give_the_same_vectors_as_computed_ones(
    elmo: Callable[..., ElmoEmbedding], batch: Batch
) -> None:
    part = elmo().eval()
    mask = batch["mask"]
    torch.testing.assert_close(part(kept(part, batch))[mask], part(batch)[mask], atol=2e-3, rtol=2e-3)


@pytest.mark.parametrize("given", [False, True], ids=["computed", "with the batch"])
def test_without_tuning_the_language_model_has_no_gradient_or_dropout(
    elmo: Callable[..., ElmoEmbedding], batch: Batch, given: bool
) -> None:
    part = elmo().train()
    assert part.training
    assert not part.bilm.training
    used = kept(part, batch) if given else batch
    vectors = part(used)
    assert torch.equal(vectors, part(used)), "twice the same: nothing is dropped"
    vectors[batch["mask"]].square().sum().backward()
    assert all(weight.grad is None for weight in part.bilm.parameters())
    assert all(weight.grad is not None and weight.grad.any() for weight in part.mixes.parameters())


def test_with_tuning_the_language_model_has_gradients_and_dropout(
    elmo: Callable[..., ElmoEmbedding], batch: Batch
) -> None:
    part = elmo(tuned=True).train()
    assert part.bilm.training
    assert not torch.equal(part(batch), part(batch))
    part.eval()
    assert torch.equal(part(batch), part(batch))
    part(batch)[batch["mask"]].square().sum().backward()
    assert all(weight.grad is not None and weight.grad.any() for weight in part.bilm.parameters())


def test_dropout_applies_to_mixed_vectors_in_training_only(
    elmo: Callable[..., ElmoEmbedding], batch: Batch
) -> None:
    part = elmo(dropout=0.5)
    zeros = part.train()(batch)[batch["mask"]].eq(0.0).float().mean()
    assert 0.2 < zeros < 0.8
    assert not part.eval()(batch)[batch["mask"]].eq(0.0).any()


def test_the_penalty_applies_to_mix_weights_only(elmo: Callable[..., ElmoEmbedding]) -> None:
    part = elmo(2, penalty=0.1)
    assert part.penalty() == 0.0, "the plain mean costs nothing"
    with torch.no_grad():
        part.mixes[0].weights.copy_(torch.tensor([1.0, 2.0, 0.0]))  # type: ignore[operator,union-attr]
        part.mixes[1].weights.copy_(torch.tensor([0.0, -3.0, 0.0]))  # type: ignore[operator,union-attr]
        part.mixes[1].scale.fill_(50.0)  # type: ignore[operator,union-attr]
    torch.testing.assert_close(part.penalty(), torch.tensor(0.1 * (1 + 4 + 9)))
    part.penalty().backward()
    assert [name for name, weight in part.named_parameters() if weight.grad is not None] == [
        "mixes.0.weights",
        "mixes.1.weights",
    ]


def test_the_embedding_reports_its_name_places_and_widths(elmo: Callable[..., ElmoEmbedding]) -> None:
    for mixes in (1, 2):
        part = elmo(mixes)
        assert isinstance(part, ContextualEmbedding)
        assert (part.name, part.tuned) == ("elmo", False)
        assert part.places == PLACES[:mixes]
        assert part.width == part.place_width * mixes


@torch.no_grad()
def test_the_report_has_the_layer_shares_of_each_place(elmo: Callable[..., ElmoEmbedding]) -> None:
    part = elmo(2)
    for number, mix in enumerate(part.mixes):
        mix.weights[number] = 3.0  # type: ignore[index,operator,union-attr]
        mix.scale.fill_(number + 1.5)  # type: ignore[operator,union-attr]
    found = part.report()
    assert [row["place"] for row in found] == list(PLACES)
    for number, row in enumerate(found):
        assert sum(row["shares"]) == pytest.approx(1.0)
        assert max(range(3), key=row["shares"].__getitem__) == number
        assert (row["scale"], row["normalized"]) == (number + 1.5, False)


@pytest.mark.parametrize(
    ("tuned", "rate", "scale"), [(True, 0.25, 0.25), (True, None, None), (False, 0.25, None)]
)
def test_only_a_tuned_language_model_has_its_own_learning_rate(
    tuned: bool, rate: float | None, scale: float | None
) -> None:
    mixes = {"input": ScalarMix(layers=3)}
    part = ElmoEmbedding(
        bilm=build_bilm(SHAPE), mixes=mixes, tuned=tuned, rate=rate, dropout=0.0, penalty=0.0
    )
    assert getattr(part.bilm, "rate_scale", None) == scale
