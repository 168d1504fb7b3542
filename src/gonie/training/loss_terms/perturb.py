"""Adversarial training on perturbed vectors of the tokens (``[loss.perturb]``)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import torch
from pydantic import Field
from torch import Tensor

from gonie.errors import RecipeError
from gonie.nn.inference import evaluating, to_tensors
from gonie.nn.precision import autocast, widened
from gonie.tasks.section import Section
from gonie.training.loss_terms.random_numbers import random_numbers_kept
from gonie.training.loss_terms.term import TermContext, TermPart


class PerturbConfig(Section):
    """Loss on adversarially perturbed token vectors (Miyato et al. 2017, arXiv:1605.07725)."""

    weight: float = Field(default=1.0, ge=0, description="weight of the loss on the perturbed vectors")
    epsilon: float = Field(
        default=1.0,
        gt=0,
        description="norm of the perturbation of a sentence, as a multiple of the vectors' root mean square",
    )


class Perturb:
    """w · loss(v + r), r = ε s g / ‖g‖, g = ∂loss/∂v: Miyato, Dai & Goodfellow 2017 (arXiv:1605.07725).

    v are the vectors of the tokens below the encoder (``embed``), as of taggers in Yasunaga, Kasai & Radev
    2018 (arXiv:1711.04903). The papers normalise word vectors to variance 1, so that the model cannot make
    the perturbation small by large vectors. Here s, the root mean square of the vectors of the batch, scales
    it instead. ‖g‖ is the norm over all vectors of a sentence. r is a constant in the gradient of the term.

    v has dropout of its own, which differs from that of the loss of the step. The two passes over v share
    their dropout masks, so that g is the gradient of the network that is perturbed.
    """

    def __init__(self, config: PerturbConfig, context: TermContext) -> None:
        if context.job is None:
            raise RecipeError(
                ["loss.perturb: has no gradient to check, because its perturbation counts as a constant"]
            )
        if not hasattr(context.model, "states_of"):
            raise RecipeError([f"loss.perturb: does not work with the task {context.recipe.task!r}"])
        if not _reads_vectors(context):
            raise RecipeError(
                [
                    "loss.perturb: the model has no token vectors to perturb; use a recipe with an encoder, "
                    "such as ner"
                ]
            )
        self._config = config
        self._precision = context.recipe.train.precision
        self._device = context.device

    def __call__(self, model: Any, batch: Mapping[str, Tensor], states: Tensor) -> Tensor:
        """Return the weighted loss. Shape: ()."""
        with autocast(self._precision, self._device):
            vectors = model.embed(batch)  # (B, T, D)
            fixed = vectors.detach().requires_grad_()
            with random_numbers_kept(self._device):
                loss = model.loss_of(model.states_of(fixed, batch), batch)
            (gradient,) = torch.autograd.grad(loss, fixed)
            moved = vectors + self.perturbation(fixed.detach(), gradient, batch["mask"]).to(vectors.dtype)
            loss = model.loss_of(model.states_of(moved, batch), batch)
        return self._config.weight * loss  # type: ignore[no-any-return]

    def perturbation(self, vectors: Tensor, gradient: Tensor, mask: Tensor) -> Tensor:
        """Return r of vectors and gradients (B, T, D), 0 at padding. Shape: (B, T, D)."""
        places = mask.unsqueeze(2)
        gradient = widened(gradient).where(places, 0.0)
        squares = widened(vectors).square().where(places, 0.0).sum()
        scale = (squares / (mask.sum() * vectors.shape[2])).sqrt()  # ()
        norms = gradient.flatten(1).norm(dim=1)[:, None, None]  # (B, 1, 1)
        least = torch.finfo(gradient.dtype).tiny
        r: Tensor = self._config.epsilon * scale * gradient / norms.clamp(min=least)
        return r


def _reads_vectors(context: TermContext) -> bool:
    """Return whether the loss of a training example depends on the vectors of its tokens."""
    model: Any = context.model
    batch = to_tensors(context.need_job("perturb").train.batch(np.zeros(1, dtype=np.int64)), context.device)
    with evaluating(model):
        vectors = model.embed(batch).detach().requires_grad_()
        loss = model.loss_of(model.states_of(vectors, batch), batch)
    (gradient,) = torch.autograd.grad(loss, vectors, allow_unused=True)
    return gradient is not None


PART = TermPart(help="loss on adversarially perturbed token vectors", section=PerturbConfig, build=Perturb)
