"""Trains a model in its run folder up to its best checkpoint.

Turns the events of the training loop into files: regular checkpoints, the best weights, and a line of metrics
per epoch. The caller decides what to do with the best weights.
"""

from __future__ import annotations

import hashlib
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import chain
from typing import Protocol, cast

import torch
from torch import nn

from gonie.errors import GonieError
from gonie.tasks.paths import file_stamps
from gonie.tasks.sections import CorpusRecipe, LearningConfig
from gonie.tasks.torch.checkpoint import save_weights
from gonie.tasks.torch.job import ExampleJob, Job, Note
from gonie.tasks.torch.layers import freeze_layers, layer_notes, part_rates
from gonie.tasks.torch.training_setup import TrainingSetup
from gonie.training.average import WeightAverage
from gonie.training.folder import RunFolder
from gonie.training.interrupt import Interrupt
from gonie.training.loop import Epoch, Step, check_loss, train
from gonie.training.loss_terms.epoch_losses import EpochLosses
from gonie.training.loss_terms.table import build_terms, module_terms, recorded_terms, with_files
from gonie.training.loss_terms.term import LossTerm, TermContext
from gonie.training.optim import build_optimizer
from gonie.training.state import Progress, State

COMPILING = "compiling loops for this processor (once, about 15 s)"

OUT_OF_MEMORY = ("allocate memory", "not enough memory", "Storage size calculation overflowed")
"""Messages of PyTorch's RuntimeError on the CPU. Only for the GPU it has an out-of-memory class."""


class TrainingObserver(Protocol):
    """Receives the progress of training."""

    def step(self, step: Step) -> None:
        """Called after each step."""

    def epoch(self, epoch: Epoch) -> None:
        """Called after each epoch, when it is scored."""


@dataclass(frozen=True)
class TrainingSession:
    """A model in training, with its setup, its loss terms and its current state."""

    model: nn.Module
    setup: TrainingSetup
    terms: Mapping[str, LossTerm]
    state: State


@contextmanager
def memory_errors() -> Iterator[None]:
    """Convert out-of-memory errors of PyTorch to ``MemoryError`` during the block."""
    try:
        yield
    except RuntimeError as error:
        if isinstance(error, torch.OutOfMemoryError) or any(words in str(error) for words in OUT_OF_MEMORY):
            raise MemoryError(str(error)) from error
        raise


def choose_device(config: LearningConfig) -> torch.device:
    """Return the device of the recipe. ``auto`` uses a GPU if there is one."""
    if config.device == "cuda" and not torch.cuda.is_available():
        raise GonieError("train.device: PyTorch finds no CUDA GPU. Use --device cpu.")
    wanted = config.device
    if config.optimizer == "per-window":
        if wanted == "cuda":
            raise GonieError('train.optimizer: "per-window" runs only on a CPU. Use --device cpu.')
        wanted = "cpu"
    if wanted == "auto":
        wanted = "cuda" if torch.cuda.is_available() else "cpu"
    return torch.device(wanted)


def build_model(job: Job, note: Note | None = None) -> nn.Module:
    """Build the model before training on the CPU. The same recipe and files give the same model.

    It has the weights of the model that its recipe starts from, if any. ``note`` receives how many.
    """
    torch.manual_seed(job.recipe.train.seed)
    model: nn.Module = job.build()
    if isinstance(job.recipe, CorpusRecipe):
        examples = cast("ExampleJob", job)
        if examples.start is not None:
            copied = examples.start.copy_to(model, examples.encoding)
            if note is not None:
                note(f"started from {examples.start.folder}: {copied}")
        freeze_layers(model, job.recipe.train)
        if note is not None:
            for text in layer_notes(model, job.recipe):
                note(text)
    return model


def set_up_torch(config: LearningConfig) -> None:
    """Set the threads of PyTorch, and whether it is deterministic. The first call takes a second or two.

    It imports the compiler of PyTorch, which no training of a run should be charged for.
    """
    if config.threads:
        torch.set_num_threads(config.threads)
    torch.use_deterministic_algorithms(config.deterministic)


def begin_training(job: Job, note: Note | None = None) -> TrainingSession:
    """Build the model and start a session at step 0. ``note`` receives messages about slow steps."""
    config = job.recipe.train
    set_up_torch(config)
    device = choose_device(config)
    model = build_model(job, note).to(device)
    setup = job.setup(model, note or (lambda text: None))
    terms = _build_terms(job, model, setup, note or (lambda text: None))
    extra = module_terms(terms).to(device)
    parameters = chain(model.named_parameters(), extra.named_parameters(prefix="loss"))
    term_rates = {f"loss.{prefix}": rate for prefix, rate in part_rates(extra).items()}
    state = State(
        model=model,
        extra=extra,
        optimizer=build_optimizer(config, parameters, {**job.rates(model), **term_rates}),
        average=WeightAverage(model, config.average),
        progress=Progress(),
        loss=torch.zeros((), dtype=torch.float64, device=device),
        fingerprint=with_files(job.fingerprint(), terms),
        recipe=hashlib.sha256(job.recipe.model_dump_json().encode()).hexdigest(),
        files=file_stamps(job.recipe),
        terms=EpochLosses(recorded_terms(terms), device),
    )
    return TrainingSession(model, setup, terms, state)


def _build_terms(job: Job, model: nn.Module, setup: TrainingSetup, note: Note) -> dict[str, LossTerm]:
    """Build the loss terms of a job. Tasks without labelled examples have none."""
    if not isinstance(job.recipe, CorpusRecipe):
        return {}
    context = TermContext(
        recipe=job.recipe,
        model=model,
        examples=setup.examples,
        steps=job.recipe.train.epochs * setup.batches.size(0),
        job=cast("ExampleJob", job),
        note=note,
    )
    return build_terms(context)


def fit(
    job: Job,
    run: RunFolder,
    session: TrainingSession,
    observer: TrainingObserver,
    *,
    after_checkpoint: Callable[[], object] = lambda: None,
) -> bool:
    """Train to the end and write files to ``run``. Return False if interrupted."""
    config = job.recipe.train
    setup, state = session.setup, session.state
    history = run.history(before_epoch=state.progress.epoch)
    saved = time.monotonic()
    with Interrupt() as interrupt:
        for event in train(state, setup, config, state.terms.recorded(session.terms)):
            if isinstance(event, Epoch):
                if event.improved:
                    with state.average.applied():
                        save_weights(run.best, setup.weights)
                history.append(event.record())
                run.write_history(history)
                observer.epoch(event)
            else:
                observer.step(event)
            due = time.monotonic() - saved > config.checkpoint_seconds
            if isinstance(event, Epoch) or interrupt.requested or due:
                check_loss(state, config)  # before it overwrites a good checkpoint
                state.save(run.last)
                after_checkpoint()
                saved = time.monotonic()
            if interrupt.requested and not state.progress.finished:
                return False
    return True
