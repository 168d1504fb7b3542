"""The training of heads that are computed from the states of the training examples (``Part.fitted``).

Without ``train.episodes``, an epoch is one pass over the training examples with the network as it is, which
fits the head. With it, the steps of an epoch train the network on episodes, and the head is fitted before the
dev score.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import torch
from torch import Tensor

from gonie.errors import RecipeError
from gonie.features.batching import sorted_batches
from gonie.features.corpus import Examples
from gonie.nn.heads.support import FittedHead, SupportStates
from gonie.nn.inference import evaluating, to_tensors
from gonie.tasks.parts import TAG_HEADS
from gonie.tasks.sections import TrainConfig
from gonie.tasks.torch.episode_batches import EpisodeBatches, EpisodePool
from gonie.tasks.torch.training_setup import DevScore, StepBatch, TrainingSetup

SENTENCES = 256  # examples of a batch in a pass
GOLD = ("tags", "labels", "mask")  # the arrays of a batch that the losses of fitted heads read


class HeadFit:
    """Fits the head of ``model`` to the states of ``examples``, with the network in evaluation mode.

    ``done`` says whether the head was fitted. Checkpoints do not have the fitted head.
    """

    def __init__(self, model: Any, head: FittedHead, examples: Examples, config: TrainConfig) -> None:
        self._model = model
        self._head = head
        self._examples = examples
        self._tokens = config.batch_tokens
        self.done = False

    @torch.no_grad()
    def __call__(self) -> Tensor:
        """Fit the head in one pass. Return the mean loss of the examples after it. Shape: ()."""
        head, device = self._head, next(self._model.parameters()).device
        batches: list[tuple[Tensor, dict[str, Tensor]]] = []
        found: list[SupportStates] = []
        first = 0
        with evaluating(self._model):
            for content in self._batches(device):
                states = self._model.states(content)
                own = head.support(states, content)
                found.append(own._replace(examples=own.examples + first))
                first += len(states)
                batches.append((states, {name: content[name] for name in GOLD if name in content}))
            head.fit(SupportStates(*map(torch.cat, zip(*found, strict=True))))
            losses = [head.loss(head.score(states, batch), batch) * len(states) for states, batch in batches]
        self.done = True
        return torch.stack(losses).double().sum() / first

    def _batches(self, device: torch.device) -> Iterator[dict[str, Tensor]]:
        examples = self._examples
        for rows in sorted_batches(
            examples.lengths, tokens=self._tokens, sentences=SENTENCES, heights=examples.heights
        ):
            yield to_tensors(examples.batch(rows), device)


class SinglePass:
    """All examples as one batch without content, because ``HeadFit`` reads them itself.

    So a pass is never interrupted between two batches.
    """

    def __init__(self, examples: Examples) -> None:
        self._examples = examples

    def size(self, epoch: int) -> int:
        """Return the number of batches of an epoch: 1."""
        return 1

    def weight(self, epoch: int) -> int:
        """Return the number of examples."""
        return len(self._examples)

    def batches(self, epoch: int, first: int = 0) -> Iterator[StepBatch]:
        """Yield the batch, unless ``first`` is after it."""
        if not first:
            yield StepBatch(None, self._examples.tokens, len(self._examples))


class HeadUpdate:
    """The update of a step that fits the head."""

    def __init__(self, fit: HeadFit) -> None:
        self._fit = fit

    def __call__(self, batch: StepBatch, *, rate: float, epochs_done: float) -> Tensor:
        """Fit the head. Return the mean loss of the examples after it. Shape: ()."""
        return self._fit()


def with_support(
    setup: TrainingSetup,
    config: TrainConfig,
    model: Any,
    examples: Examples,
    pool: Callable[[], EpisodePool],
) -> TrainingSetup:
    """Return the setup with a pass that fits the head, or with episodes, if the head is a ``FittedHead``.

    ``pool`` returns the types of the examples, for episodes.
    """
    head = model.head()
    if not isinstance(head, FittedHead):
        if config.episodes is not None:
            heads = " or ".join(name for name, part in TAG_HEADS.items() if part.fitted)
            raise RecipeError([f"train.episodes: works only with the head {heads}; set model.head.kind"])
        return setup
    fit = HeadFit(model, head, examples, config)

    def evaluate() -> DevScore:
        if config.episodes is not None or not fit.done:  # not done: resumed after the pass
            fit()
        return setup.evaluate()

    if config.episodes is None:
        return replace(setup, batches=SinglePass(examples), update=HeadUpdate(fit), evaluate=evaluate)
    device = next(model.parameters()).device
    return replace(setup, batches=EpisodeBatches(examples, pool(), config, device), evaluate=evaluate)
