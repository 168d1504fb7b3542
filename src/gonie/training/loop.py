"""The training loop: a generator that yields after every step and every epoch.

Showing, logging, checkpointing and stopping are the caller's: it reads what is yielded, saves ``state`` when
it likes, and stops by not asking for more. Between two yields the state is consistent, and going on from a
saved one gives bit for bit what never stopping would have given.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import torch

from gonie.errors import GonieError
from gonie.features.corpus import Examples
from gonie.tasks.sections import TrainConfig
from gonie.tasks.torch.learner import Learner
from gonie.training.loss_terms.term import LossTerm
from gonie.training.optim import learning_rate
from gonie.training.state import State
from gonie.training.updates import Update, build_update


@dataclass(frozen=True)
class Step:
    """One update: ``batch`` of ``batches`` in ``epoch`` (from 1) is done."""

    epoch: int
    batch: int
    batches: int
    tokens: int
    rate: float


@dataclass(frozen=True)
class Epoch:
    """One pass over the data: mean loss an example, the dev score, and whether it is the best so far.

    ``train_score`` is the same score on training examples, where that was asked for; ``dev_seconds`` is the
    time that all scoring took.
    """

    epoch: int
    loss: float
    score: float
    improved: bool
    rate: float
    tokens: int
    seconds: float
    dev_seconds: float
    train_score: float | None = None


def train(
    state: State,
    model: Learner,
    examples: Examples,
    config: TrainConfig,
    evaluate: Callable[[], float],
    *,
    evaluate_train: Callable[[], float] | None = None,
    terms: Sequence[LossTerm] = (),
) -> Iterator[Step | Epoch]:
    """Train ``model`` from where ``state`` stands until the epochs or the patience are used up.

    ``evaluate`` gives the dev score of the model as it is then (with its averaged weights in place), and
    ``evaluate_train``, which decides nothing, its score on training examples. ``terms`` are added to the
    loss of each step.
    """
    progress = state.progress
    update = build_update(config, model, examples, state.optimizer, terms)
    while not progress.finished:
        yield from _run_epoch(state, model, examples, config, update)
        started = time.monotonic()
        with state.average.applied():
            score = evaluate()
            train_score = evaluate_train() if evaluate_train else None
        improved = score >= progress.best  # of equal scores, as a small dev set gives, the later is kept
        done = Epoch(
            epoch=progress.epoch + 1,
            loss=float(state.loss) / len(examples),
            score=score,
            improved=improved,
            rate=learning_rate(config, step=progress.step, epochs_done=progress.epoch + 1),
            tokens=progress.tokens,
            seconds=progress.seconds,
            dev_seconds=time.monotonic() - started,
            train_score=train_score,
        )
        progress.stale = 0 if score > progress.best else progress.stale + 1
        if improved:
            progress.best, progress.best_epoch = score, progress.epoch
        progress.epoch += 1
        progress.batch = progress.tokens = 0
        progress.seconds = 0.0
        state.loss.zero_()
        progress.finished = progress.epoch >= config.epochs or progress.stale >= config.patience
        yield done


def batch_size(config: TrainConfig, examples: int) -> int:
    """How many examples a batch holds at most: of few in all, few, so that there are steps enough."""
    if config.batch_sentences == "auto":
        return min(max(examples // 100, 4), 32)
    return config.batch_sentences


def _run_epoch(
    state: State, model: Learner, examples: Examples, config: TrainConfig, update: Update
) -> Iterator[Step]:
    progress = state.progress
    batches = update.batches(
        examples.lengths,
        heights=examples.heights,
        tokens=config.batch_tokens,
        sentences=batch_size(config, len(examples)),
        generator=np.random.default_rng([config.seed, progress.epoch]),
    )
    model.train()
    for rows in batches[progress.batch :]:
        started = time.monotonic()
        rate = learning_rate(
            config, step=progress.step, epochs_done=progress.epoch + progress.batch / len(batches)
        )
        seed_step(config.seed, progress.step, state.loss.device)
        loss = update(rows, rate=rate)
        state.average.update(progress.step)
        state.loss += loss * len(rows)  # read once an epoch: no wait inside a step
        tokens = int(examples.sizes[rows].sum())
        progress.batch += 1
        progress.step += 1
        progress.tokens += tokens
        progress.seconds += time.monotonic() - started
        yield Step(progress.epoch + 1, progress.batch, len(batches), tokens, rate)
    if not torch.isfinite(state.loss):
        held = " or with the gradients held closer (--set train.clip=1)"
        raise GonieError(
            f"the loss became {float(state.loss)} in epoch {progress.epoch + 1}: expected a finite number. "
            f"Start a new run with a lower learning rate (--set train.lr={config.lr / 4:g})"
            f"{'' if config.optimizer == 'per-window' else held}."
        )


def seed_step(seed: int, step: int, device: torch.device) -> None:
    """The random numbers of a step, without the tour of all backends that ``torch.manual_seed`` makes."""
    number = seed * 2_000_003 + step
    torch.default_generator.manual_seed(number)
    if device.type == "cuda":
        torch.cuda.manual_seed(number)
