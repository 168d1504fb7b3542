"""The pretraining of a language model from recipe to run folder: start it, resume it, finish it.

    recipe.toml         as resolved, every key
    text/               the tokenised text, unless the recipe keeps it elsewhere (data.cache)
    metrics.jsonl       a line for every epoch
    last.safetensors    where training stands, in the middle of the text
    best.safetensors    weights of the epoch with the lowest held-out perplexity
    bilm/               the language model; all that embeddings need

Every file is written whole or not at all, in an order that a kill at any moment leaves a run that can be
resumed.
"""

from __future__ import annotations

import dataclasses
import time
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

import torch

import gonie
from gonie.errors import GonieError, ResumeError
from gonie.features.lm_text import Streams, TokenisingProgress
from gonie.system.files import atomic_write
from gonie.tasks.language_model.recipe import PretrainConfig, PretrainRecipe
from gonie.tasks.language_model.torch.build import build_language_model
from gonie.tasks.language_model.torch.data import PretrainData, read_pretrain_data
from gonie.tasks.language_model.torch.feed import Feed
from gonie.tasks.language_model.torch.folder import WEIGHTS, Predictions, SavedBilm, save_bilm
from gonie.tasks.language_model.torch.network import LanguageModel
from gonie.tasks.language_model.torch.perplexity import Perplexity, measure, measure_alone
from gonie.tasks.language_model.torch.start import kept_words, put_start, told_of_start, with_shape_of_start
from gonie.tasks.language_model.torch.stateful import StatefulReader
from gonie.tasks.paths import with_absolute_paths
from gonie.tasks.recipe import load_recipe, write_recipe
from gonie.tasks.torch.checkpoint import load_weights, save_weights
from gonie.training.average import WeightAverage
from gonie.training.fit import choose_device
from gonie.training.folder import RunFolder
from gonie.training.interrupt import Interrupt
from gonie.training.loop import Step
from gonie.training.memory import memory_errors
from gonie.training.optim import build_optimizer
from gonie.training.pretrain_loop import PretrainEpoch, check_loss, pretrain
from gonie.training.state import Progress, State

ENOUGH = 5
"""How many times as many steps as the learning rate takes to rise a training should have at least."""


class PretrainFolder(RunFolder):
    """Paths of a pretraining."""

    def __init__(self, root: Path) -> None:
        super().__init__(root)
        self.text = root / "text"
        self.bilm = root / "bilm"

    def _outputs(self) -> tuple[Path, ...]:
        return (self.metrics, self.last, self.best, self.text, self.bilm)


@dataclass(frozen=True)
class PretrainSummary:
    """What is about to be trained."""

    folder: Path
    device: str
    words: int
    heldout: int
    unknown: float
    vocabulary: int
    parameters: int
    softmax_parameters: int
    epochs: int
    batches: int
    first_epoch: int
    complete: bool


@dataclass(frozen=True)
class PretrainingResult:
    """What a complete pretraining leaves."""

    folder: Path
    perplexity: Perplexity
    alone: Perplexity
    """The same of sentences each read from nothing, as they are in use."""
    best_epoch: int
    vocabulary: int
    seconds: float
    size: int
    """Bytes of the model on disk, without its softmax."""
    language: str
    unit: str


class PretrainDisplay(Protocol):
    """Who is told how it goes."""

    def note(self, text: str) -> None:
        """Something found or decided on the way."""

    def advance(self, advance: TokenisingProgress) -> None:
        """Text is being tokenised."""

    def begin(self, summary: PretrainSummary) -> None:
        """Training is about to begin."""

    def step(self, step: Step) -> None:
        """A step is done."""

    def epoch(self, epoch: PretrainEpoch) -> None:
        """An epoch is done and scored."""

    def interrupted(self, folder: Path) -> None:
        """It was asked to stop, and has saved where it stands."""

    def finished(self, result: PretrainingResult) -> None:
        """It is complete."""


@dataclass(frozen=True)
class LanguageModelTrainee:
    """A language model with where its training stands."""

    reader: StatefulReader
    state: State
    feed: Feed
    origin: Mapping[str, Any]
    """What it tells of the model that it started from, if of any."""

    @property
    def model(self) -> LanguageModel:
        """The language model, without what its rows carry."""
        return self.reader.model


def start_pretraining(
    recipe: PretrainRecipe, folder: Path, display: PretrainDisplay
) -> PretrainingResult | None:
    """Train ``recipe`` into a new ``folder``; None if it was interrupted."""
    recipe = with_shape_of_start(with_absolute_paths(recipe))
    choose_device(recipe.train)
    run = PretrainFolder(folder)
    resolved = write_recipe(recipe)
    made = run.create()
    with run.held():
        atomic_write(run.recipe, resolved)  # before the text is read, which may take long and can go on
        with memory_errors(), _forgotten_if_refused(run, made=made):
            return _run(recipe, run, display)


def resume_pretraining(
    folder: Path, display: PretrainDisplay, changes: Iterable[str] = ()
) -> PretrainingResult | None:
    """Go on with the run in ``folder`` from its last checkpoint, by its own recipe."""
    run = PretrainFolder(folder)
    run.reopen()
    own = load_recipe(run.recipe, command="pretrain")
    if with_absolute_paths(load_recipe(run.recipe, changes, command="pretrain")) != own:
        raise ResumeError(
            f"{run.recipe}: --set asks for something else than the run began with. "
            "Resume without it, or start a new run with another --out."
        )
    choose_device(own.train)
    with memory_errors(), run.held():
        run.clear_leftovers()
        return _run(own, run, display)


@contextmanager
def _forgotten_if_refused(run: PretrainFolder, *, made: bool) -> Iterator[None]:
    """A run that could not begin leaves nothing, so that the same command works once its cause is gone."""
    try:
        yield
    except GonieError:  # a refusal; after anything else what is there may be resumed
        if not run.last.exists():
            run.remove()
            if made:
                run.root.rmdir()
        raise


def _run(recipe: PretrainRecipe, run: PretrainFolder, display: PretrainDisplay) -> PretrainingResult | None:
    started = time.monotonic()
    try:
        data = read_pretrain_data(
            recipe,
            Path(recipe.data.cache) if recipe.data.cache else run.text,
            display.note,
            advance=display.advance,
            vocabulary=kept_words(recipe.model),
        )
        trainee = begin(recipe, data)
        if run.last.exists():
            trainee.state.restore(run.last)
        summary = _summary(recipe, run, data, trainee)
        display.begin(summary)
        if (steps := summary.epochs * summary.batches) < ENOUGH * recipe.train.warmup:
            display.note(_too_few(steps, recipe.train))
        done = _fit(recipe, data, run, trainee, display)
    except KeyboardInterrupt:  # while text is read; what is done of it is kept
        done = False
    if not done:
        display.interrupted(run.root)
        return None
    load_weights(run.best, trainee.model)
    alone = measure_alone(trainee.model, data.heldout, recipe.train, display.note)
    result = _finish(recipe, data, run, trainee, alone=alone, seconds=time.monotonic() - started)
    display.finished(result)
    return result


def begin(recipe: PretrainRecipe, data: PretrainData) -> LanguageModelTrainee:
    """A language model at the beginning of its training, or where the one that it starts from ended."""
    config = recipe.train
    if config.threads:
        torch.set_num_threads(config.threads)
    torch.use_deterministic_algorithms(config.deterministic)
    device = choose_device(config)
    torch.manual_seed(config.seed)
    model = build_language_model(recipe.model, len(data.vocabulary))
    put_start(model, recipe.model, data.vocabulary)
    reader = StatefulReader(model=model, rows=config.rows, forget=config.forget).to(device)
    state = State(
        model=reader,
        optimizer=build_optimizer(config, reader.named_parameters()),
        average=WeightAverage(reader, config.average),
        progress=Progress(),
        loss=torch.zeros((), dtype=torch.float64, device=device),
        fingerprint=data.fingerprint,
    )
    streams = Streams(data.train.tokens, rows=config.rows, steps=config.steps, seed=config.seed)
    return LanguageModelTrainee(reader, state, Feed(data.train, streams, device), told_of_start(recipe.model))


def _fit(
    recipe: PretrainRecipe,
    data: PretrainData,
    run: PretrainFolder,
    trainee: LanguageModelTrainee,
    display: PretrainDisplay,
) -> bool:
    """Train to the end from where the trainee stands, keeping files in ``run``; false if interrupted."""
    config, state, model = recipe.train, trainee.state, trainee.model
    history = run.history(before_epoch=state.progress.epoch)
    saved = time.monotonic()
    with Interrupt() as interrupt:
        for event in pretrain(
            state,
            trainee.reader,
            trainee.feed,
            config,
            lambda: measure(model, data.heldout, config, display.note),
        ):
            if isinstance(event, PretrainEpoch):
                if event.improved:
                    with state.average.applied():
                        save_weights(run.best, model)
                history.append({**dataclasses.asdict(event), "perplexity": event.perplexity._asdict()})
                run.write_history(history)
                display.epoch(event)
            else:
                display.step(event)
            late = time.monotonic() - saved > config.checkpoint_seconds
            if isinstance(event, PretrainEpoch) or interrupt.asked or late:
                check_loss(state, config)
                state.save(run.last)
                saved = time.monotonic()
            if interrupt.asked and not state.progress.finished:
                return False
    return True


def _finish(
    recipe: PretrainRecipe,
    data: PretrainData,
    run: PretrainFolder,
    trainee: LanguageModelTrainee,
    *,
    alone: Perplexity,
    seconds: float,
) -> PretrainingResult:
    """Write the language model of the best epoch."""
    best = trainee.state.progress.best_epoch + 1
    record = next(record for record in run.history() if record["epoch"] == best)
    perplexity = Perplexity(**record["perplexity"])
    model = trainee.model
    saved = SavedBilm(
        bilm=model.bilm,
        shape=recipe.model.bilm,
        language=recipe.data.language,
        unit=recipe.data.token_unit,
        about={
            **_about(recipe, data, perplexity, best),
            "perplexity_alone": alone._asdict(),
            **trainee.origin,
        },
        predictions=Predictions(data.vocabulary, model.softmax.state_dict()),
    )
    save_bilm(run.bilm, saved, storage=recipe.model.storage)
    size = (run.bilm / WEIGHTS).stat().st_size
    return PretrainingResult(
        folder=run.root,
        perplexity=perplexity,
        alone=alone,
        best_epoch=best,
        vocabulary=len(data.vocabulary),
        seconds=seconds,
        size=size,
        language=saved.language,
        unit=saved.unit,
    )


def _about(recipe: PretrainRecipe, data: PretrainData, perplexity: Perplexity, epochs: int) -> dict[str, Any]:
    """Where the model comes from, for whoever uses it."""
    return {
        "gonie": gonie.__version__,
        "text": [Path(file).name for file in recipe.data.text],
        "words": data.train.words,
        "epochs": epochs,
        "heldout": Path(recipe.data.heldout).name if recipe.data.heldout else "the end of the text",
        "heldout_words": data.heldout.words,
        "vocabulary": len(data.vocabulary),
        "unknown": data.heldout.unknown,
        "perplexity": perplexity._asdict(),
    }


def _summary(
    recipe: PretrainRecipe, run: PretrainFolder, data: PretrainData, trainee: LanguageModelTrainee
) -> PretrainSummary:
    model, progress = trainee.model, trainee.state.progress
    return PretrainSummary(
        folder=run.root,
        device=str(model.softmax.weight.device),
        words=data.train.words,
        heldout=data.heldout.words,
        unknown=data.heldout.unknown,
        vocabulary=len(data.vocabulary),
        parameters=sum(p.numel() for p in model.bilm.parameters()),
        softmax_parameters=sum(p.numel() for p in model.softmax.parameters()),
        epochs=recipe.train.epochs,
        batches=trainee.feed.size(progress.epoch),
        first_epoch=progress.epoch + 1,
        complete=progress.finished,
    )


def _too_few(steps: int, config: PretrainConfig) -> str:
    """What is told of a training that ends when its learning rate has hardly risen."""
    wanted = ENOUGH * config.warmup
    rows = max(1, config.rows * steps // wanted)
    return (
        f"expected at least {wanted:,} steps, got {steps:,}: over the first {config.warmup:,} the learning "
        "rate only rises, and little will be learned. Read fewer rows at once "
        f"(--set train.rows={rows}), or use more text or more epochs"
    )
