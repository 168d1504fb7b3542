"""Meta-learning for domain generalisation (``[loss.mldg]``)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import torch
from pydantic import Field
from torch import Tensor, nn
from torch.func import functional_call

from gonie.errors import RecipeError
from gonie.nn.inference import to_tensors
from gonie.nn.precision import autocast
from gonie.tasks.section import Section, Size
from gonie.training.loss_terms.random_numbers import random_numbers_kept
from gonie.training.loss_terms.term import TermContext, TermPart

TINY = 1e-6
"""Added to the norm of a gradient that is normalised, against division by 0."""
RADIUS = 0.01
"""The distance from θ at which gradients are compared for a product with the Hessian."""


class MldgConfig(Section):
    """Meta-learning for domain generalisation (Li et al. 2018, arXiv:1710.03463)."""

    weight: float = Field(default=1.0, ge=0, description="β, weight of the loss on the held-out domains")
    rate: float = Field(
        default=0.1,
        gt=0,
        description="α, length of the step on the other domains before it: the norm of the change of all "
        "weights together",
    )
    held_out: Size = Field(default=1, description="domains that are held out at each step")
    first_order: bool = Field(
        default=False,
        description="take the gradient step as a constant; about half the time, but a weaker method",
    )


class Mldg:
    """β G(θ − γ ∇F(θ)): MLDG of Li, Yang, Song & Hospedales 2018 (arXiv:1710.03463).

    At each step, some of the training domains are held out at random. F is the loss on examples of the other
    domains, and G the loss on examples of the held-out ones. So a step on the other domains is rewarded only
    if it also helps domains that it does not see. The two batches are drawn from the training examples, each
    with as many as the batch of the step. The loss of the step itself is unchanged.

    The paper has a constant γ. Here γ = α / ‖∇F(θ)‖: the gradient is normalised as by ``train.normalize``, so
    the inner step always has the length α. The scale of losses differs: that of a CRF is a sum over the
    tokens of a sentence, often 100 times the loss of a text classifier, and a constant γ would overshoot. γ
    counts as a constant for the gradient.

    With v = ∇G(θ − γ ∇F(θ)), the gradient is β (v − γ H v), where H is the Hessian of F. The compiled kernels
    of CRF and LSTM have no second derivative. So H v = (∇F(θ + ε v) − ∇F(θ − ε v)) / 2ε, ε = 0.01 / ‖v‖, as
    in Liu, Simonyan & Yang 2019 (arXiv:1806.09055). ``first_order`` leaves H v out. All passes share their
    random numbers, so that dropout is the same for equal batches.

    Domains are drawn uniformly, and so are the examples of all chosen domains together.
    """

    def __init__(self, config: MldgConfig, context: TermContext) -> None:
        job, found = context.need_job("mldg"), context.domains
        if len(found) < 2:
            if left_out := context.recipe.data.leave_out:
                raise RecipeError(
                    [
                        f"loss.mldg: there is only one domain, because data.leave_out = {left_out}; name the "
                        "files of three or more domains with --set data.train.NAME=FILE"
                    ]
                )
            raise RecipeError(
                [
                    "loss.mldg: needs training examples of two or more domains; name the file of each domain "
                    "with --set data.train.NAME=FILE"
                ]
            )
        if config.held_out >= len(found):
            raise RecipeError(
                [f"loss.mldg.held_out: must be below the number of domains, {len(found)}: {config.held_out}"]
            )
        self._config = config
        self._examples = job.train
        self._rows = [np.flatnonzero(job.domains == domain) for domain in found]
        self._precision = context.recipe.train.precision
        self._device = context.device

    def __call__(self, model: nn.Module, batch: Mapping[str, Tensor], states: Tensor) -> Tensor:
        """Return the weighted loss on the held-out domains after the step on the others. Shape: ()."""
        order = torch.randperm(len(self._rows)).tolist()
        held, others = order[: self._config.held_out], order[self._config.held_out :]
        others_batch, held_batch = self._drawn(others, len(states)), self._drawn(held, len(states))
        trained = _Trained(model)
        with autocast(self._precision, self._device):
            slope = trained.gradient(self._loss(trained, others_batch, trained.unmoved()))
            rate = self._config.rate / (_norm(slope) + TINY)  # γ
            outer = self._loss(trained, held_batch, [-rate * each for each in slope])
        if not self._config.first_order:
            outer = outer - rate * self._hessian_product(trained, others_batch, trained.gradient(outer))
        return self._config.weight * outer

    def _loss(self, trained: _Trained, batch: Mapping[str, Tensor], shift: Sequence[Tensor]) -> Tensor:
        """Return the loss of a batch at θ + shift. Shape: ()."""
        with random_numbers_kept(self._device):
            return trained.loss(batch, shift)

    def _hessian_product(
        self, trained: _Trained, batch: Mapping[str, Tensor], direction: Sequence[Tensor]
    ) -> Tensor:
        """Return a scalar whose value is 0 and whose gradient is H v, v the direction. Shape: ().

        (F(θ + ε v) − F(θ − ε v)) / 2ε has the gradient H v. Its value is subtracted as a constant, so that a
        caller can add the gradient to a loss without changing the value of the loss. The two passes run in
        full precision, because their difference is small.
        """
        size = RADIUS / _norm(direction).clamp(min=torch.finfo(direction[0].dtype).tiny)
        ahead, behind = (
            self._loss(trained, batch, [sign * size * each for each in direction]) for sign in (1, -1)
        )
        slope = (ahead - behind) / (2 * size)
        return slope - slope.detach()

    def _drawn(self, domains: list[int], size: int) -> dict[str, Tensor]:
        """Return a batch of examples of the domains, drawn uniformly."""
        rows = np.concatenate([self._rows[domain] for domain in domains])
        drawn = rows[torch.randint(len(rows), (size,)).numpy()]
        return to_tensors(self._examples.batch(drawn), self._device)


class _Trained(nn.Module):
    """The loss of a model at other values of its trained weights θ."""

    def __init__(self, model: nn.Module) -> None:
        super().__init__()
        self.model: Any = model
        self._weights = {name: weight for name, weight in self.named_parameters() if weight.requires_grad}

    def forward(self, batch: Mapping[str, Tensor]) -> Tensor:
        """Return the mean loss of a batch. Shape: ()."""
        return self.model.loss(batch)  # type: ignore[no-any-return]

    def unmoved(self) -> list[Tensor]:
        """Return the shift 0 of all weights."""
        return [torch.zeros_like(weight) for weight in self._weights.values()]

    def loss(self, batch: Mapping[str, Tensor], shift: Sequence[Tensor]) -> Tensor:
        """Return the loss of a batch at θ + shift, which has a tensor for each trained weight. Shape: ()."""
        moved = {
            name: weight + each for (name, weight), each in zip(self._weights.items(), shift, strict=True)
        }
        found: Tensor = functional_call(self, moved, (batch,))
        return found

    def gradient(self, loss: Tensor) -> list[Tensor]:
        """Return the gradient of a loss by θ, as constants."""
        weights = list(self._weights.values())
        found = torch.autograd.grad(loss, weights, retain_graph=True, allow_unused=True)
        return [
            torch.zeros_like(weight) if each is None else each
            for weight, each in zip(weights, found, strict=True)
        ]


def _norm(tensors: Sequence[Tensor]) -> Tensor:
    """Return the norm of all tensors together. Shape: ()."""
    return torch.nn.utils.get_total_norm(tensors)


PART = TermPart(
    help="loss on held-out training domains after a step on the others", section=MldgConfig, build=Mldg
)
