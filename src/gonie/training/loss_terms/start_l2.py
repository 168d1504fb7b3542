"""L2 regularisation towards the weights that training starts from (``[loss.start-l2]``)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import torch
from pydantic import Field
from torch import Tensor, nn

from gonie.errors import RecipeError
from gonie.tasks.section import Section
from gonie.tasks.torch.layers import HEAD, adapters_of
from gonie.training.loss_terms.term import TermContext, TermPart


class StartL2Config(Section):
    """L2 distance to the weights of train.start: L2-SP (Li et al. 2018, arXiv:1802.01483)."""

    weight: float = Field(
        default=0.1, ge=0, description="α, strength of the pull of the weights to the start's"
    )
    new: float = Field(
        default=0.0, ge=0, description="β, strength of the pull of new weights (head, adapters) to 0"
    )


class StartL2:
    """α/2 ‖w − w⁰‖² + β/2 ‖v‖²: L2-SP of Li, Grandvalet & Davoine 2018 (arXiv:1802.01483).

    w are the trained weights below the head and w⁰ their values before the first step, which are those of
    ``train.start``. v are the other trained weights: the head, whose labels may be new, and adapters. Entries
    of a vocabulary that the start does not have are pulled to their initial values.
    """

    def __init__(self, config: StartL2Config, context: TermContext) -> None:
        context.need_start("start-l2")
        self._pull, self._shrink = config.weight / 2, config.new / 2
        new = _new_parts(context.model)
        self._new = [name for name in _trained(context.model) if name.startswith(new)]
        self._start = {
            name: weight.detach().clone()
            for name, weight in _trained(context.model).items()
            if not name.startswith(new)
        }
        if not self._start and not (self._new and self._shrink):
            raise RecipeError(
                [
                    "loss.start-l2: has no effect, because no trained weight comes from the start; train a "
                    "layer of the start, set loss.start-l2.new, or remove this section"
                ]
            )

    def __call__(self, model: nn.Module, batch: Mapping[str, Tensor], states: Tensor) -> Tensor:
        """Return the penalty. Shape: ()."""
        weights = dict(model.named_parameters())
        pulled = [(weights[name] - start).square().sum() for name, start in self._start.items()]
        shrunk = [weights[name].square().sum() for name in self._new] if self._shrink else []
        return self._pull * _total(pulled, states) + self._shrink * _total(shrunk, states)


def _new_parts(model: Any) -> tuple[str, ...]:
    """Return the prefixes of the names of weights that do not come from the start."""
    head = model.layers()[HEAD]
    heads = (name for name, part in model.named_modules() if part is head)
    return tuple(f"{name}." for name in (*heads, *adapters_of(model)))


def _trained(model: nn.Module) -> dict[str, Tensor]:
    return {name: weight for name, weight in model.named_parameters() if weight.requires_grad}


def _total(values: list[Tensor], like: Tensor) -> Tensor:
    return torch.stack(values).sum() if values else like.new_zeros(())


PART = TermPart(
    help="L2 distance to the weights of train.start",
    section=StartL2Config,
    build=StartL2,
    needs_start=True,
)
