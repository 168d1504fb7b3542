"""The update of a training step."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, cast

import torch
from torch import Tensor, nn
from torch.optim import Optimizer

from gonie.errors import RecipeError
from gonie.nn.precision import autocast
from gonie.tasks.sections import LearningConfig
from gonie.tasks.torch.learner import StateLearner
from gonie.tasks.torch.training_setup import StepBatch, TrainingSetup, Update
from gonie.training.loss_terms.table import with_terms
from gonie.training.loss_terms.term import LossTerm
from gonie.training.optim import bound_gradients, set_learning_rate


def build_update(
    setup: TrainingSetup,
    config: LearningConfig,
    model: nn.Module,
    optimizer: Optimizer,
    terms: Sequence[LossTerm] = (),
) -> Update:
    """Return the task's own update if it has one, otherwise a gradient step on the loss and ``terms``."""
    if setup.update is not None:
        return setup.update
    if config.optimizer == "per-window":
        raise RecipeError(
            ['train.optimizer: "per-window" works only with taggers; use another optimizer, such as sgd']
        )
    return GradientUpdate(
        model=cast("StateLearner", model),
        optimizer=optimizer,
        config=config,
        terms=terms,
        resting=setup.resting,
    )


class GradientUpdate:
    """Computes the gradient of a batch by autograd, and takes one step of the optimizer.

    The cost of a step is the loss of the model plus ``terms``. ``resting`` returns the parts that get no
    gradient at this point of training.
    """

    def __init__(
        self,
        *,
        model: StateLearner,
        optimizer: Optimizer,
        config: LearningConfig,
        terms: Sequence[LossTerm],
        resting: Callable[[float], Iterable[nn.Module]],
    ) -> None:
        self._model = model
        self._optimizer = optimizer
        self._config = config
        self._terms = terms
        self._resting = resting
        self._parameters = [own for group in optimizer.param_groups for own in group["params"]]
        self._device = next(model.parameters()).device

    def __call__(self, batch: StepBatch, *, rate: float, epochs_done: float) -> Tensor:
        """Update the model on a batch. Return its loss before the step, without terms. Shape: ()."""
        self._optimizer.zero_grad(set_to_none=True)
        total = batch.weight + sum(part.weight for part in batch.more)
        losses = [self._add_gradients(part, part.weight / total) for part in batch.parts]
        for part in self._resting(epochs_done):
            part.zero_grad(set_to_none=True)
        bound_gradients(self._config, self._parameters)
        set_learning_rate(self._optimizer, rate)
        self._optimizer.step()
        return losses[0] if len(losses) == 1 else torch.stack(losses).sum()

    def _add_gradients(self, batch: StepBatch, share: float) -> Tensor:
        """Add the gradients of a batch times its ``share`` in the step. Return its share of the loss."""
        loss, cost = self._costs(batch.content)
        with torch.autograd.set_multithreading_enabled(False):  # a second thread is slower with one device
            (cost if share == 1 else cost * share).backward()  # type: ignore[no-untyped-call]
        return loss.detach() * share

    def _costs(self, batch: Any) -> tuple[Tensor, Tensor]:
        """Return the loss of the model, and the loss with all terms. Shape: () each."""
        model = self._model
        if not self._terms:
            with autocast(self._config.precision, self._device):
                loss = model.loss(batch)
            return loss, loss
        with autocast(self._config.precision, self._device):
            states = model.states(batch)
            loss = model.loss_of(states, batch)
        return loss, with_terms(loss, model, batch, states, self._terms)
