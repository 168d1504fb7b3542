"""Optimal transport between the states of a model and those of its start (``[loss.transport]``)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

import torch
import torch.nn.functional as F
from pydantic import Field
from torch import Tensor

from gonie.nn.precision import widened
from gonie.tasks.section import Section, Size
from gonie.training.loss_terms.frozen_copy import FrozenCopy
from gonie.training.loss_terms.sinkhorn import regularised_cost
from gonie.training.loss_terms.term import TermContext, TermPart


class TransportConfig(Section):
    """Optimal transport of the states to those of train.start (Cuturi 2013, arXiv:1306.0895)."""

    weight: float = Field(default=10.0, ge=0, description="weight of the transport cost")
    cost: Literal["euclidean", "cosine"] = Field(
        default="euclidean",
        description="cost of moving a state: squared euclidean distance per unit, or 1 − cosine",
    )
    marginals: Literal["uniform", "norm"] = Field(
        default="uniform",
        description="mass of a state: equal for all, or in proportion to the norm of the start's state "
        "(Yokoi et al. 2020)",
    )
    epsilon: float = Field(
        default=0.05, gt=0, description="strength of the entropy, as a multiple of the mean cost"
    )
    iterations: Size = Field(default=30, description="iterations of Sinkhorn's algorithm")
    points: Size = Field(default=256, description="maximum states per batch; more are sampled")


class Transport:
    """w (⟨P, C⟩ + ε KL(P ‖ a bᵀ)): entropic transport between two clouds of states, with C their costs.

    The clouds are the states x of the model in training, and the states y of its frozen start for the same
    batch: those of the tokens of a tagger, of the texts of another model. The start has no dropout. Unlike
    a distance between x[i] and y[i], transport does not fix which state corresponds to which, so it keeps
    the distribution of states and lets single ones move. P is the plan of ``sinkhorn`` (Cuturi 2013,
    arXiv:1306.0895). The cost is ‖x − y‖² / H, or 1 − cos(x, y). The mass of the tokens is uniform, or
    proportional to ‖y‖ (Yokoi et al. 2020, arXiv:2004.15003). ε is a multiple of the mean of C.
    """

    def __init__(self, config: TransportConfig, context: TermContext) -> None:
        context.need_start("transport")
        context.need_states("transport")
        self._config = config
        self._start = FrozenCopy(context.model)

    def __call__(self, model: Any, batch: Mapping[str, Tensor], states: Tensor) -> Tensor:
        """Return the weighted cost. Shape: ()."""
        config, targets = self._config, self._start.states(batch)
        if states.dim() == 3:  # of tokens
            states, targets = states[batch["mask"]], targets[batch["mask"]]
        if len(states) > config.points:
            chosen = torch.randperm(len(states))[: config.points].to(states.device)
            states, targets = states[chosen], targets[chosen]  # (M, H) each
        cost = COSTS[config.cost](widened(states), targets)  # (M, M)
        mass = _masses(targets, by_norm=config.marginals == "norm")
        epsilon = config.epsilon * cost.detach().mean()
        value = regularised_cost(cost, mass, mass, epsilon=epsilon, iterations=config.iterations)
        return config.weight * value


def squared_distances(x: Tensor, y: Tensor) -> Tensor:
    """Return ‖x[i] − y[j]‖² / H. Shape: (M, H), (N, H) -> (M, N)."""
    squares = x.square().sum(1, keepdim=True) + y.square().sum(1) - 2 * x @ y.t()
    return squares.clamp(min=0) / x.shape[1]


def cosine_distances(x: Tensor, y: Tensor) -> Tensor:
    """Return 1 − cos(x[i], y[j]). Shape: (M, H), (N, H) -> (M, N)."""
    return 1 - F.normalize(x, dim=1) @ F.normalize(y, dim=1).t()


COSTS = {"euclidean": squared_distances, "cosine": cosine_distances}


def _masses(states: Tensor, *, by_norm: bool) -> Tensor:
    """Return the mass of each state, which sum to 1. Shape: (M, H) -> (M,)."""
    if not by_norm:
        return states.new_full((len(states),), 1 / len(states))
    norms = states.norm(dim=1).clamp(min=torch.finfo(states.dtype).tiny)
    masses: Tensor = norms / norms.sum()
    return masses


PART = TermPart(
    help="optimal transport of the states to those of train.start",
    section=TransportConfig,
    build=Transport,
    needs_start=True,
)
