"""Meta-learning for domain generalisation (``[loss.mldg]``)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from pydantic import Field
from torch import Tensor, nn
from torch.func import functional_call

from gonie.errors import RecipeError
from gonie.nn.inference import to_tensors
from gonie.nn.precision import autocast
from gonie.tasks.section import Section, Size
from gonie.training.loss_terms.term import TermContext, TermPart


class MldgConfig(Section):
    """Meta-learning for domain generalisation (Li et al. 2018, arXiv:1710.03463), first order."""

    weight: float = Field(default=1.0, ge=0, description="β, weight of the loss on the held-out domains")
    rate: float = Field(
        default=0.1, gt=0, description="α, length of the gradient step on the other domains before it"
    )
    held_out: Size = Field(default=1, description="domains that are held out at each step")


class Mldg:
    """β G(θ − α ∇F(θ)): MLDG of Li, Yang, Song & Hospedales 2018 (arXiv:1710.03463), first order.

    At each step, some of the training domains are held out at random. F is the loss on examples of the other
    domains, and G the loss on examples of the held-out ones. So a step on the other domains is rewarded only
    if it also helps domains that it does not see. ∇F counts as a constant. The two batches are drawn from the
    training examples, each with as many as the batch of the step. The loss of the step itself is unchanged.

    Domains are drawn uniformly, and so are the examples of all chosen domains together.
    """

    def __init__(self, config: MldgConfig, context: TermContext) -> None:
        job = context.need_job("mldg")
        domains: NDArray[np.integer] | None = getattr(job, "domains", None)
        found = [] if domains is None else np.unique(domains).tolist()
        if len(found) < 2:
            raise RecipeError([f"loss.mldg: needs training examples of two or more domains: {len(found)}"])
        if config.held_out >= len(found):
            raise RecipeError(
                [f"loss.mldg.held_out: must be below the number of domains, {len(found)}: {config.held_out}"]
            )
        self._config = config
        self._examples = job.train
        self._rows = [np.flatnonzero(domains == domain) for domain in found]
        self._precision = context.recipe.train.precision
        self._device = context.device

    def __call__(self, model: nn.Module, batch: Mapping[str, Tensor], states: Tensor) -> Tensor:
        """Return the weighted loss on the held-out domains after the step on the others. Shape: ()."""
        order = torch.randperm(len(self._rows)).tolist()
        held, others = order[: self._config.held_out], order[self._config.held_out :]
        size = len(states)
        loss_of, weights = _Loss(model), _trained(model)
        with autocast(self._precision, self._device):
            inner = loss_of(self._drawn(others, size))
        gradients = torch.autograd.grad(inner, list(weights.values()), allow_unused=True)
        moved = {
            f"model.{name}": weight if gradient is None else weight - self._config.rate * gradient
            for (name, weight), gradient in zip(weights.items(), gradients, strict=True)
        }
        with autocast(self._precision, self._device):
            outer: Tensor = functional_call(loss_of, moved, (self._drawn(held, size),))
        return self._config.weight * outer

    def _drawn(self, domains: list[int], size: int) -> dict[str, Tensor]:
        """Return a batch of examples of the domains, drawn uniformly."""
        rows = np.concatenate([self._rows[domain] for domain in domains])
        drawn = rows[torch.randint(len(rows), (size,)).numpy()]
        return to_tensors(self._examples.batch(drawn), self._device)


class _Loss(nn.Module):
    """The loss of a model as a module, whose weights ``functional_call`` can replace."""

    def __init__(self, model: nn.Module) -> None:
        super().__init__()
        self.model: Any = model

    def forward(self, batch: Mapping[str, Tensor]) -> Tensor:
        """Return the mean loss of a batch. Shape: ()."""
        return self.model.loss(batch)  # type: ignore[no-any-return]


def _trained(model: nn.Module) -> dict[str, Tensor]:
    return {name: weight for name, weight in model.named_parameters() if weight.requires_grad}


PART = TermPart(
    help="loss on held-out training domains after a step on the others", section=MldgConfig, build=Mldg
)
