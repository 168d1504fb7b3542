"""What a step of training does: look at a batch, and make the model better at it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import cast

import torch
from torch import Tensor, nn
from torch.optim import Optimizer

from gonie.errors import RecipeError
from gonie.nn.precision import autocast
from gonie.tasks.sections import LearningConfig
from gonie.tasks.torch.learner import Learner
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
    """The update of the task's own, or else a gradient step that lowers the loss and its ``terms``."""
    if setup.update is not None:
        return setup.update
    if config.optimizer == "per-window":
        raise RecipeError(
            ['train.optimizer: "per-window" works only with taggers; take another optimizer, such as sgd']
        )
    return GradientUpdate(
        model=cast("Learner", model),
        optimizer=optimizer,
        config=config,
        terms=terms,
        resting=setup.resting,
    )


class GradientUpdate:
    """One batch, one gradient by autograd, one step of the optimizer.

    The cost of a step is the loss of the model plus ``terms``. Parts that are ``resting`` when so many epochs
    are done get no gradient.
    """

    def __init__(
        self,
        *,
        model: Learner,
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
        self._parameters = list(model.parameters())
        self._device = self._parameters[0].device

    def __call__(self, batch: StepBatch, *, rate: float, epochs_done: float) -> Tensor:
        """Learn from a batch; its loss before the step, without terms. Shape: ()."""
        with autocast(self._config.precision, self._device):
            loss = self._model.loss(batch.content)
        cost = with_terms(loss, self._model, batch.content, self._terms)
        self._optimizer.zero_grad(set_to_none=True)
        with torch.autograd.set_multithreading_enabled(False):  # one device: its own thread only costs time
            cost.backward()  # type: ignore[no-untyped-call]
        for part in self._resting(epochs_done):
            part.zero_grad(set_to_none=True)
        bound_gradients(self._config, self._parameters)
        set_learning_rate(self._optimizer, rate)
        self._optimizer.step()
        return loss.detach()
