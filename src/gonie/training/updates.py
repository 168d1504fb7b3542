"""What a step of training does: look at some examples, and make the model better at them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Protocol

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.optim import Optimizer

from gonie.errors import RecipeError
from gonie.features.batching import mixed_batches, shuffled_batches
from gonie.features.corpus import Examples
from gonie.nn.inference import to_tensors
from gonie.nn.precision import autocast
from gonie.tasks.sections import TrainConfig
from gonie.tasks.tagging.torch.network import TaggingNetwork
from gonie.tasks.tagging.torch.per_window import per_window
from gonie.tasks.torch.learner import Learner
from gonie.training.loss_terms.table import with_terms
from gonie.training.loss_terms.term import LossTerm
from gonie.training.optim import bound_gradients, set_learning_rate

Batches = Callable[..., list[NDArray[np.int64]]]


class Update(Protocol):
    """The role. Random choices come from torch's generator, which the caller has seeded."""

    batches: Batches
    """How an epoch is cut: lengths, most cells and most examples to batches of rows."""

    def __call__(self, rows: NDArray[np.int64], *, rate: float) -> Tensor:
        """Learn from the examples ``rows`` at this rate; their mean loss before it, penalties apart. ()"""
        ...


def build_update(
    config: TrainConfig,
    model: Learner,
    examples: Examples,
    optimizer: Optimizer,
    terms: Sequence[LossTerm] = (),
) -> Update:
    """The step that the recipe's optimiser asks for; ``terms`` are added to the loss."""
    if config.optimizer == "per-window":
        if not isinstance(model, TaggingNetwork):
            raise RecipeError(["train.optimizer: per-window is for taggers; take another, such as sgd"])
        return WindowUpdate(config, model, examples)
    return GradientUpdate(config, model, examples, optimizer, terms)


class GradientUpdate:
    """One batch, one gradient by autograd of the loss and its terms, one step of the optimiser."""

    batches: Batches = staticmethod(shuffled_batches)

    def __init__(
        self,
        config: TrainConfig,
        model: Learner,
        examples: Examples,
        optimizer: Optimizer,
        terms: Sequence[LossTerm] = (),
    ) -> None:
        self._config = config
        self._model = model
        self._examples = examples
        self._optimizer = optimizer
        self._terms = terms
        self._parameters = list(model.parameters())
        self._device = self._parameters[0].device

    def __call__(self, rows: NDArray[np.int64], *, rate: float) -> Tensor:
        """Learn from the examples ``rows``."""
        batch = to_tensors(self._examples.batch(rows), self._device)
        with autocast(self._config.precision, self._device):
            loss = self._model.loss(batch)
        cost = with_terms(loss, self._model, batch, self._terms)
        self._optimizer.zero_grad(set_to_none=True)
        with torch.autograd.set_multithreading_enabled(False):  # one device: its own thread only costs time
            cost.backward()  # type: ignore[no-untyped-call]
        bound_gradients(self._config, self._parameters)
        set_learning_rate(self._optimizer, rate)
        self._optimizer.step()
        return loss.detach()


class WindowUpdate:
    """Plain SGD after each single token of the batch, in random order (``nn.window``).

    Sentences of like length do not go together: an epoch would end on short ones, say, and single steps are
    all too ready to forget the others.
    """

    batches: Batches = staticmethod(mixed_batches)

    def __init__(self, config: TrainConfig, model: TaggingNetwork, examples: Examples) -> None:
        self._examples = examples
        self._pull = config.l2 / examples.tokens
        self._sgd = per_window(model)

    def __call__(self, rows: NDArray[np.int64], *, rate: float) -> Tensor:
        """Learn from the sentences ``rows``."""
        batch = to_tensors(self._examples.batch(rows), torch.device("cpu"))
        loss = self._sgd.step(batch, rate=rate, pull=self._pull)
        return torch.tensor(loss / len(rows), dtype=torch.float64)
