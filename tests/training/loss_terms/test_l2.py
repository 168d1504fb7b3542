"""Tests the L2 penalty: λ/2m ‖W‖² over the matrices of encoder and head, and no other weights."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor

from gonie.tasks.recipe import load_recipe
from gonie.tasks.torch.prepare import synthetic
from gonie.training.loss_terms.l2 import MatrixL2


class Weighted:
    """A model with one matrix."""

    def __init__(self, weight: Tensor) -> None:
        self.weight = weight

    def squares(self) -> Tensor:
        return self.weight.square().sum()


@pytest.mark.parametrize(("strength", "examples"), [(1.0, 1), (0.3, 7), (50.0, 1000)])
def test_the_penalty_and_its_gradient_equal_the_formula(strength: float, examples: int) -> None:
    weight = torch.randn(3, 4, dtype=torch.float64, requires_grad=True)
    model = Weighted(weight)
    penalty = MatrixL2(strength=strength, examples=examples)(model, {}, torch.empty(0))
    naive = strength / (2 * examples) * sum(value**2 for value in weight.flatten().tolist())
    assert penalty.item() == pytest.approx(naive)
    (gradient,) = torch.autograd.grad(penalty, weight)
    torch.testing.assert_close(gradient, strength / examples * weight)


@pytest.mark.parametrize("name", ["ner", "subjectivity", "pairs"])
def test_only_matrices_of_encoder_and_head_are_penalised(name: str) -> None:
    """Biases, embeddings, and weights of features and transitions have no penalty."""
    specimen = synthetic(load_recipe(name, ["model.elmo.bilm=not-there", "model.elmo.tuned=true"]))
    model = specimen.model
    MatrixL2(strength=2.0, examples=4)(model, specimen.batch, torch.empty(0)).backward()
    pulled = {key: weight for key, weight in model.named_parameters() if weight.grad is not None}
    assert pulled
    for key, weight in pulled.items():
        assert weight.dim() > 1, key
        assert not key.startswith("embedding."), key
        torch.testing.assert_close(weight.grad, 2.0 / 4 * weight.detach())
