"""Tests the penalties that parts of a model define: they are added to the loss."""

from __future__ import annotations

import torch
from torch import nn

from gonie.nn import ElmoEmbedding, ScalarMix, WordEmbedding
from gonie.tasks.language_model.shape import BilmConfig
from gonie.tasks.language_model.torch.build import build_bilm
from gonie.tasks.recipe import load_recipe
from gonie.tasks.torch.prepare import synthetic
from gonie.training.loss_terms.part_penalties import PartPenalties
from gonie.training.loss_terms.table import total_loss

SHAPE = BilmConfig(byte_width=2, filters=[(1, 2)], width=2, hidden=3)


def elmo(penalty: float, weight: float = 2.0) -> ElmoEmbedding:
    part = ElmoEmbedding(
        bilm=build_bilm(SHAPE),
        mixes={"input": ScalarMix(layers=3)},
        tuned=False,
        dropout=0.0,
        penalty=penalty,
    )
    nn.init.constant_(part.mixes[0].weights, weight)  # type: ignore[arg-type,union-attr]
    return part


def test_the_penalty_is_the_sum_over_all_parts() -> None:
    model = nn.Sequential(WordEmbedding(size=3, width=2), elmo(0.5), nn.Sequential(elmo(2.0)))
    torch.testing.assert_close(PartPenalties()(model, {}, torch.empty(0)), torch.tensor((0.5 + 2.0) * 3 * 4))


def test_the_penalty_is_zero_for_a_model_without_penalties() -> None:
    assert PartPenalties()(WordEmbedding(size=3, width=2), {}, torch.empty(0)) == 0.0
    assert PartPenalties()(object(), {}, torch.empty(0)) == 0.0


def test_one_term_works_with_several_models_and_current_weights() -> None:
    """The parts of a model are looked up once, but their penalties are computed at every step."""
    term, one, other = PartPenalties(), elmo(1.0), elmo(3.0)
    for _ in range(2):
        torch.testing.assert_close(term(one, {}, torch.empty(0)), torch.tensor(1.0 * 3 * 4))
        torch.testing.assert_close(term(other, {}, torch.empty(0)), torch.tensor(3.0 * 3 * 4))
    nn.init.constant_(other.mixes[0].weights, 1.0)  # type: ignore[arg-type,union-attr]
    torch.testing.assert_close(term(other, {}, torch.empty(0)), torch.tensor(3.0 * 3))


def test_the_gradient_of_the_penalty_is_added_to_that_of_the_loss() -> None:
    """It is 2 λ w for the weights of a mix, and 0 for any other parameter."""
    changes = ["model.elmo.bilm=not-there", "model.elmo.l2=0.25", "model.elmo.at=both"]
    specimen = synthetic(load_recipe("ner", changes))
    model = specimen.model.eval()
    trained = {name: weight for name, weight in model.named_parameters() if weight.requires_grad}

    def gradients(*terms: PartPenalties) -> dict[str, torch.Tensor]:
        loss = total_loss(model, specimen.batch, terms)
        found = torch.autograd.grad(loss, list(trained.values()), allow_unused=True)
        return {name: g for name, g in zip(trained, found, strict=True) if g is not None}

    plain, pulled = gradients(), gradients(PartPenalties())
    moved = {name for name in pulled if not torch.equal(plain[name], pulled[name])}
    assert moved == {name for name in trained if name.endswith("weights") and ".mixes." in name}
    assert len(moved) == 2
    for name in moved:
        wanted = plain[name] + 2 * 0.25 * trained[name].detach()
        torch.testing.assert_close(pulled[name], wanted)
