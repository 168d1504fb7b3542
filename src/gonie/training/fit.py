"""A model in training in its run folder, up to its best weights: what all that trains has in common.

The loop trains; here its events become files: a checkpoint now and then, the best weights, and a line of
metrics an epoch. What is done with the best weights afterwards is the caller's.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Protocol

import torch
from torch import nn

from gonie.errors import GonieError
from gonie.tasks.sections import LearningConfig
from gonie.tasks.torch.checkpoint import save_weights
from gonie.tasks.torch.job import Job, Note
from gonie.tasks.torch.training_setup import TrainingSetup
from gonie.training.average import WeightAverage
from gonie.training.folder import RunFolder
from gonie.training.interrupt import Interrupt
from gonie.training.loop import Epoch, Step, check_loss, train
from gonie.training.loss_terms.table import build_terms
from gonie.training.optim import build_optimizer
from gonie.training.state import Progress, State


class Watcher(Protocol):
    """Who is told how training goes."""

    def step(self, step: Step) -> None:
        """A step is done."""

    def epoch(self, epoch: Epoch) -> None:
        """An epoch is done and scored."""


@dataclass(frozen=True)
class Trainee:
    """A model with how it is trained and where its training stands."""

    model: nn.Module
    setup: TrainingSetup
    state: State


def choose_device(config: LearningConfig) -> torch.device:
    """The device the recipe asks for; ``auto`` takes a GPU where there is one."""
    if config.device == "cuda" and not torch.cuda.is_available():
        raise GonieError("train.device: PyTorch finds no CUDA GPU. Use --device cpu")
    wanted = config.device
    if config.optimizer == "per-window":
        if wanted == "cuda":
            raise GonieError('train.optimizer: "per-window" runs only on a CPU. Use --device cpu')
        wanted = "cpu"
    if wanted == "auto":
        wanted = "cuda" if torch.cuda.is_available() else "cpu"
    return torch.device(wanted)


def fresh_model(job: Job) -> nn.Module:
    """The model before its first step, on the CPU: the same one for the same recipe and files."""
    torch.manual_seed(job.recipe.train.seed)
    model: nn.Module = job.build()
    return model


def begin(job: Job, note: Note | None = None) -> Trainee:
    """A fresh model, at the beginning of its training; ``note`` is told what takes long."""
    config = job.recipe.train
    if config.threads:
        torch.set_num_threads(config.threads)
    torch.use_deterministic_algorithms(config.deterministic)
    device = choose_device(config)
    model = fresh_model(job).to(device)
    state = State(
        model=model,
        optimizer=build_optimizer(config, model.named_parameters(), job.rates(model)),
        average=WeightAverage(model, config.average),
        progress=Progress(),
        loss=torch.zeros((), dtype=torch.float64, device=device),
        fingerprint=job.fingerprint(),
    )
    return Trainee(model, job.setup(model, note or (lambda text: None)), state)


def fit(job: Job, run: RunFolder, trainee: Trainee, watcher: Watcher) -> bool:
    """Train to the end from where the trainee stands, keeping files in ``run``; false if interrupted."""
    config = job.recipe.train
    setup, state = trainee.setup, trainee.state
    terms = build_terms(job.recipe, examples=setup.examples)
    history = run.history(before_epoch=state.progress.epoch)
    saved = time.monotonic()
    with Interrupt() as interrupt:
        for event in train(state, setup, config, terms):
            if isinstance(event, Epoch):
                if event.improved:
                    with state.average.applied():
                        save_weights(run.best, setup.weights)
                history.append(event.record())
                run.write_history(history)
                watcher.epoch(event)
            else:
                watcher.step(event)
            late = time.monotonic() - saved > config.checkpoint_seconds
            if isinstance(event, Epoch) or interrupt.asked or late:
                check_loss(state, config)  # before a checkpoint takes the place of a good one
                state.save(run.last)
                saved = time.monotonic()
            if interrupt.asked and not state.progress.finished:
                return False
    return True
