"""What a step of training does: look at a batch, and make the model better at it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, Protocol, cast

import torch
from torch import Tensor, nn
from torch.optim import Optimizer

from gonie.errors import RecipeError
from gonie.nn.precision import autocast
from gonie.tasks.sections import LearningConfig
from gonie.tasks.torch.learner import Learner
from gonie.tasks.torch.training_setup import StepBatch, TrainingSetup, Update
from gonie.training.optim import bound_gradients, set_learning_rate


class LossTerm(Protocol):
    """Something that is added to the loss of a step."""

    def __call__(self, model: Any, batch: Any) -> Tensor:
        """What the model pays for itself and for a batch. Shape: ()."""
        ...


class SquaredNorm:
    """``share`` ‖W‖² of the model's matrices (``train.l2``)."""

    def __init__(self, share: float) -> None:
        self._share = share

    def __call__(self, model: Any, batch: Any) -> Tensor:
        """The penalty; the batch does not matter."""
        penalty: Tensor = self._share * model.squares()
        return penalty


def build_update(
    setup: TrainingSetup, config: LearningConfig, model: nn.Module, optimizer: Optimizer
) -> Update:
    """The update of the task's own, or else a gradient step with the loss terms that the recipe asks for."""
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
        terms=[SquaredNorm(setup.l2)] if setup.l2 else [],
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
        cost = loss
        for term in self._terms:
            cost = cost + term(self._model, batch.content)
        self._optimizer.zero_grad(set_to_none=True)
        with torch.autograd.set_multithreading_enabled(False):  # one device: its own thread only costs time
            cost.backward()  # type: ignore[no-untyped-call]
        for part in self._resting(epochs_done):
            part.zero_grad(set_to_none=True)
        bound_gradients(self._config, self._parameters)
        set_learning_rate(self._optimizer, rate)
        self._optimizer.step()
        return loss.detach()
