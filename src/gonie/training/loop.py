"""The training loop: a generator that yields after every step and every epoch.

It trains any model that a ``TrainingSetup`` describes. The caller displays, logs and saves ``state``, and
stops by not iterating further. Between two yields the state is consistent. A resumed run is bit for bit the
same as an uninterrupted one: the random choices of a step depend only on the seed and the step's number, and
a batch depends only on its epoch and its number.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import Any

import torch

from gonie.errors import GonieError
from gonie.tasks.sections import LearningConfig
from gonie.tasks.torch.training_setup import TrainingSetup, Update
from gonie.training.loss_terms.term import LossTerm
from gonie.training.optim import learning_rate
from gonie.training.state import State
from gonie.training.updates import build_update


@dataclass(frozen=True)
class Step:
    """A finished step: number ``batch`` of ``batches`` in ``epoch``, counted from 1."""

    epoch: int
    batch: int
    batches: int
    tokens: int
    rate: float


@dataclass(frozen=True)
class Epoch:
    """A finished epoch: the mean loss, the dev score, and whether it is the best so far.

    ``epoch`` counts from 1. The loss is a mean per example, or per word of a language model. ``metric`` names
    the score, and ``shown`` is the score as text. ``train_score`` is the score on training examples, if
    requested. ``dev_seconds`` is the time of all scoring. ``terms`` are the means of loss terms over the
    steps, by name. ``details`` are further entries of the record.
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
    metric: str = ""
    shown: str = ""
    details: Mapping[str, Any] = field(default_factory=dict)
    terms: Mapping[str, float] = field(default_factory=dict)

    def record(self) -> dict[str, Any]:
        """Return the record of ``metrics.jsonl``."""
        names = [each.name for each in fields(self) if each.name not in ("shown", "terms", "details")]
        terms = {"terms": dict(self.terms)} if self.terms else {}
        return {**{name: getattr(self, name) for name in names}, **terms, **self.details}


def train(
    state: State, setup: TrainingSetup, config: LearningConfig, terms: Sequence[LossTerm] = ()
) -> Iterator[Step | Epoch]:
    """Train the model from ``state`` until the last epoch, or until early stopping.

    ``terms`` are added to the loss of each step. The averaged weights are scored.
    """
    progress = state.progress
    update = build_update(setup, config, state.model, state.optimizer, terms)
    while not progress.finished:
        yield from _run_epoch(state, setup, config, update)
        yield _end_epoch(state, setup, config)


def _run_epoch(state: State, setup: TrainingSetup, config: LearningConfig, update: Update) -> Iterator[Step]:
    progress = state.progress
    size = setup.batches.size(progress.epoch)
    batches = setup.batches.batches(progress.epoch, progress.batch)
    state.model.train()
    while True:
        started = time.monotonic()
        batch = next(batches, None)
        if batch is None:
            break
        tokens = sum(part.tokens for part in batch.parts)
        epochs_done = progress.epoch + progress.batch / size
        rate = learning_rate(config, step=progress.step, epochs_done=epochs_done)
        seed_step(config.seed, progress.step, state.loss.device)
        loss = update(batch, rate=rate, epochs_done=epochs_done)
        state.average.update(progress.step)
        state.loss += loss * sum(
            part.weight for part in batch.parts
        )  # read once per epoch, so that a step does not wait for the GPU
        progress.batch += 1
        progress.step += 1
        progress.tokens += tokens
        progress.seconds += time.monotonic() - started
        yield Step(progress.epoch + 1, progress.batch, size, tokens, rate)
    check_loss(state, config)


def _end_epoch(state: State, setup: TrainingSetup, config: LearningConfig) -> Epoch:
    """Score the model, and advance the state to the next epoch."""
    progress = state.progress
    started = time.monotonic()
    with state.average.applied():
        dev = setup.evaluate()
        train_score = setup.evaluate_train() if setup.evaluate_train else None
    # A tie may replace the best weights, but it is no progress: early stopping counts it as stale.
    first, better = progress.epoch == 0, dev.value > progress.best
    improved = first or better or (setup.prefer_later and dev.value == progress.best)
    done = Epoch(
        epoch=progress.epoch + 1,
        loss=float(state.loss) / setup.batches.weight(progress.epoch),
        score=dev.value,
        improved=improved,
        rate=learning_rate(config, step=progress.step, epochs_done=progress.epoch + 1),
        tokens=progress.tokens,
        seconds=progress.seconds,
        dev_seconds=time.monotonic() - started,
        train_score=train_score,
        metric=dev.metric,
        shown=dev.shown,
        terms=state.terms.means(progress.batch),
        details=dev.details,
    )
    progress.stale = 0 if first or better else progress.stale + 1
    if improved:
        progress.best, progress.best_epoch = dev.value, progress.epoch  # counted from 0
    progress.epoch += 1
    progress.batch = progress.tokens = 0
    progress.seconds = 0.0
    state.loss.zero_()
    state.terms.clear()
    setup.end_epoch()
    stalled = setup.patience is not None and progress.stale >= setup.patience
    progress.finished = progress.epoch >= config.epochs or stalled
    return done


def check_loss(state: State, config: LearningConfig) -> None:
    """Raise an error if the loss or a term is not finite, before the state overwrites a good checkpoint."""
    term = state.terms.broken()
    if term is not None:
        raise GonieError(
            f"the loss term {term} is not finite in epoch {state.progress.epoch + 1}. "
            "Start a new run with a lower weight of this term, or without it."
        )
    if torch.isfinite(state.loss):
        return
    unclipped = config.clip > 1 or not config.clip
    can_clip = config.optimizer != "per-window" and not config.normalize and unclipped
    advice = " or with stronger gradient clipping (--set train.clip=1)" if can_clip else ""
    raise GonieError(
        f"the loss became {float(state.loss)} in epoch {state.progress.epoch + 1}. "
        f"Start a new run with a lower learning rate (--set train.lr={config.lr / 4:g}){advice}."
    )


def seed_step(seed: int, step: int, device: torch.device) -> None:
    """Seed the random numbers of a step. Faster than ``torch.manual_seed``, which seeds all backends."""
    number = seed * 2_000_003 + step  # other seeds share no number for two million steps
    torch.default_generator.manual_seed(number)
    if device.type == "cuda":
        torch.cuda.manual_seed(number)
