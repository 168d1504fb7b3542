"""The loop that trains a language model: a generator that yields after every step and every epoch.

As in ``loop``, between two yields the state is consistent, and going on from a saved one gives bit for bit
what never stopping would have given: random choices are a function of the step's number, the place in the
text of the batch's, and what the rows carry on is in the checkpoint.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import torch
from torch import Tensor

from gonie.errors import GonieError
from gonie.nn.precision import autocast
from gonie.tasks.language_model.recipe import PretrainConfig
from gonie.tasks.language_model.torch.feed import Feed
from gonie.tasks.language_model.torch.perplexity import Perplexity
from gonie.tasks.language_model.torch.stateful import LanguageBatch, StatefulReader
from gonie.training.loop import Step, seed_step
from gonie.training.optim import bound_gradients, learning_rate, set_learning_rate
from gonie.training.state import State


@dataclass(frozen=True)
class PretrainEpoch:
    """One pass over the text: the loss a word in training, and the perplexity of held-out text after it."""

    epoch: int
    loss: float
    perplexity: Perplexity
    improved: bool
    rate: float
    words: int
    seconds: float
    scoring_seconds: float


def pretrain(
    state: State,
    reader: StatefulReader,
    feed: Feed,
    config: PretrainConfig,
    measure: Callable[[], Perplexity],
) -> Iterator[Step | PretrainEpoch]:
    """Train from where ``state`` stands until the epochs are used up."""
    progress = state.progress
    while not progress.finished:
        yield from _run_epoch(state, reader, feed, config)
        started = time.monotonic()
        with state.average.applied():
            found = measure()
        score = -math.log(found.mean)
        improved = score > progress.best or progress.epoch == 0
        done = PretrainEpoch(
            epoch=progress.epoch + 1,
            loss=float(state.loss) / progress.batch,
            perplexity=found,
            improved=improved,
            rate=learning_rate(config, step=progress.step, epochs_done=progress.epoch + 1),
            words=progress.tokens,
            seconds=progress.seconds,
            scoring_seconds=time.monotonic() - started,
        )
        if improved:
            progress.best, progress.best_epoch = score, progress.epoch
        progress.epoch += 1
        progress.batch = progress.tokens = 0
        progress.seconds = 0.0
        state.loss.zero_()
        reader.begin()  # the next epoch cuts the text elsewhere
        progress.finished = progress.epoch >= config.epochs
        yield done


def _run_epoch(state: State, reader: StatefulReader, feed: Feed, config: PretrainConfig) -> Iterator[Step]:
    progress = state.progress
    batches = feed.size(progress.epoch)
    words = config.rows * config.steps
    parameters = list(reader.parameters())
    reader.train()
    for batch in feed.batches(progress.epoch, progress.batch):
        started = time.monotonic()
        epochs_done = progress.epoch + progress.batch / batches
        rate = learning_rate(config, step=progress.step, epochs_done=epochs_done)
        seed_step(config.seed, progress.step, state.loss.device)
        with autocast(config.precision, state.loss.device):
            loss = mean_loss(reader, batch)
        state.optimizer.zero_grad(set_to_none=True)
        with torch.autograd.set_multithreading_enabled(False):
            loss.backward()  # type: ignore[no-untyped-call]
        if epochs_done < (config.settle or 0.0) * config.epochs:
            reader.model.bilm.zero_grad(set_to_none=True)  # a new softmax says nothing yet about the rest
        bound_gradients(config, parameters)
        set_learning_rate(state.optimizer, rate)
        state.optimizer.step()
        state.average.update(progress.step)
        state.loss += loss.detach()  # read once an epoch: no wait inside a step
        progress.batch += 1
        progress.step += 1
        progress.tokens += words
        progress.seconds += time.monotonic() - started
        yield Step(progress.epoch + 1, progress.batch, batches, words, rate)
    check_loss(state, config)


def check_loss(state: State, config: PretrainConfig) -> None:
    """Refuse to go on, or to be saved over what was good, once the loss is no number."""
    if not torch.isfinite(state.loss):
        raise GonieError(
            f"the loss became {float(state.loss)} in epoch {state.progress.epoch + 1}: expected a finite "
            f"number. Start a new run with a lower learning rate (--set train.lr={config.lr / 4:g})."
        )


def mean_loss(reader: StatefulReader, batch: LanguageBatch) -> Tensor:
    """-log p of a word, a mean over the targets of both directions that count. Shape: ()."""
    losses = reader(batch)  # (2, T, B)
    counted = batch.ahead.counts.sum() + batch.back.counts.sum()
    return losses.sum() / counted  # type: ignore[no-any-return]
