"""A whole tagger under per-window SGD: whether it can be, and the updates bound to its parts."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, cast

import torch
from torch import Tensor, nn

from gonie.errors import RecipeError
from gonie.features.batching import mixed_batches
from gonie.features.corpus import Examples
from gonie.tasks.sections import TrainConfig
from gonie.tasks.tagging.torch.network import TaggingNetwork
from gonie.tasks.torch.example_batches import ExampleBatches
from gonie.tasks.torch.training_setup import StepBatch, TrainingSetup

if TYPE_CHECKING:
    from gonie.nn.window.sgd import WindowSGD


class WindowUpdate:
    """Plain SGD after each single token of the batch, in random order (``nn.window``)."""

    def __init__(self, config: TrainConfig, model: TaggingNetwork, examples: Examples) -> None:
        self._weight_decay = config.l2 / examples.tokens
        self._sgd = per_window(model)

    def __call__(self, batch: StepBatch, *, rate: float, epochs_done: float) -> Tensor:
        """Learn from the sentences of a batch; their mean loss. Shape: ()."""
        loss = self._sgd.step(batch.content, rate=rate, weight_decay=self._weight_decay)
        return torch.tensor(loss / batch.weight, dtype=torch.float64)


def with_window_updates(
    setup: TrainingSetup, config: TrainConfig, model: TaggingNetwork, examples: Examples
) -> TrainingSetup:
    """The setup with updates after every window, on the CPU.

    Sentences of like length do not share a batch: an epoch would end on short ones, say, and single steps are
    all too ready to forget the others.
    """
    batches = ExampleBatches(examples, config, torch.device("cpu"), cut=mixed_batches)
    return replace(setup, batches=batches, update=WindowUpdate(config, model, examples))


def per_window(model: TaggingNetwork) -> WindowSGD:
    """Updates of ``model`` after every single window; a model that is not made for them is refused."""
    from gonie.nn.window.sgd import WindowSGD  # here, so that a GPU machine needs no Numba

    if any(map(_rate, (model.word_dropout, model.input_dropout, model.output_dropout))):
        raise RecipeError(
            [
                'train.optimizer: "per-window" does not support dropout; set model.dropout.input, output '
                "and word to 0, or take another optimizer, such as sgd"
            ]
        )
    parts = (model.embedding, model.encoder, model.head())
    embedding, encoder, head = (cast("nn.Module", part) for part in parts)
    return WindowSGD(embedding=embedding, encoder=encoder, head=head)


def _rate(dropout: nn.Module) -> float:
    """How much of what it gets a kind of dropout drops."""
    return float(dropout.p if isinstance(dropout, nn.Dropout) else getattr(dropout, "rate", 0.0))
