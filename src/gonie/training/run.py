"""A training run from recipe to run folder: start it, resume it, finish it.

``fit`` trains and keeps the best weights; the job makes of them what the run leaves. Every file is written
whole or not at all, in an order that a kill at any moment leaves a run that can be resumed.
"""

from __future__ import annotations

import shlex
import time
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import NamedTuple, Protocol

from gonie.errors import GonieError, OutputError, ResumeError
from gonie.features.lm_text import TokenisingProgress
from gonie.system.files import atomic_write
from gonie.tasks.paths import with_absolute_paths
from gonie.tasks.recipe import load_recipe, write_recipe
from gonie.tasks.sections import Recipe
from gonie.tasks.table import TASKS
from gonie.tasks.task import Task
from gonie.tasks.torch.checkpoint import load_weights
from gonie.tasks.torch.compiled_loops import must_compile
from gonie.tasks.torch.job import Evaluated, Job, RunOutput, TrainedRun
from gonie.tasks.torch.prepare import prepare
from gonie.tasks.torch.training_setup import Rows
from gonie.training.fit import Trainee, Watcher, begin, choose_device, fit
from gonie.training.folder import RunFolder, next_folder
from gonie.training.loss_terms.table import check_terms
from gonie.training.memory import memory_errors
from gonie.training.variants import build_variants


class RunDisplay(Watcher, Protocol):
    """What a run tells while it goes on, its training included; the command line shows it."""

    def note(self, text: str) -> None:
        """Something found or decided on the way."""

    def advance(self, advance: TokenisingProgress) -> None:
        """Text is being tokenised."""

    def begin(self, summary: Summary) -> None:
        """Training is about to begin."""

    def interrupted(self, folder: Path) -> None:
        """The run was asked to stop, and has saved where it stands."""

    def finished(self, result: RunResult) -> None:
        """The run is complete."""


@dataclass(frozen=True)
class Summary:
    """What is about to be trained."""

    folder: Path
    rows: Rows
    """What the task tells of its data and its model."""
    epochs: int
    first_epoch: int
    """Counted from 1; a run that is resumed begins later."""
    complete: bool
    """Whether training was complete before."""


@dataclass(frozen=True)
class RunResult:
    """What a complete run leaves."""

    folder: Path
    output: RunOutput
    best_epoch: int
    seconds: float

    @property
    def evaluations(self) -> Mapping[str, Evaluated]:
        """By split: dev, and test where there is one."""
        return self.output.evaluations

    @property
    def baselines(self) -> Mapping[str, str]:
        """Baselines and variants by name, with a line of scores each."""
        return self.output.baselines


class _Complete(NamedTuple):
    """A run that is trained and finished, and what its task needs to add comparisons to it."""

    trained: TrainedRun
    result: RunResult


def default_folder(recipe: str, *, resume: bool = False) -> Path:
    """runs/NAME; for a new run the next free name if that is taken, to resume the latest one there is."""
    return next_folder(Path(recipe).name.removesuffix(".toml"), mark="recipe.toml", resume=resume)


def start_run(recipe: Recipe, folder: Path, display: RunDisplay) -> RunResult | None:
    """Train ``recipe`` into a new ``folder``, then its variants; None if the run was interrupted."""
    task = TASKS[recipe.task]
    recipe = task.resolve(with_absolute_paths(recipe))
    for each in (recipe, *build_variants(recipe).values()):  # what is wrong with one is said before anything
        choose_device(each.train)
        check_terms(each)
    return _run(recipe, RunFolder(folder, task.run_files), display, new=True)


def resume_run(
    folder: Path, display: RunDisplay, changes: Iterable[str] = (), *, command: str = "train"
) -> RunResult | None:
    """Resume the run in ``folder`` from its last checkpoint, by its own recipe.

    ``changes`` (``key=value``) may repeat what the run began with; anything else is refused, since the result
    would be neither run's. ``command`` is the one that trains such recipes.
    """
    run = RunFolder(folder)
    run.reopen()
    own: Recipe = load_recipe(run.recipe, command=command)
    if with_absolute_paths(load_recipe(run.recipe, changes, command=command)) != own:
        raise ResumeError(
            f"{run.recipe}: --set cannot change the settings of a run that is resumed. "
            "Resume without it, or start a new run with another --out."
        )
    choose_device(own.train)
    return _run(own, RunFolder(folder, TASKS[own.task].run_files), display, new=False)


def _run(recipe: Recipe, run: RunFolder, display: RunDisplay, *, new: bool) -> RunResult | None:
    """The run itself, then its variants; None if it was interrupted."""
    try:
        with memory_errors(), _opened(recipe, run, display, new=new) as (job, trainee):
            result = _complete_all(job, run, trainee, display)
    except KeyboardInterrupt:  # outside of training, where it is no error: what is done is kept all the same
        if not run.recipe.is_file():
            raise
        result = None
    if result is None:
        display.interrupted(run.root)
    else:
        display.finished(result)
    return result


@contextmanager
def _opened(
    recipe: Recipe, run: RunFolder, display: RunDisplay, *, new: bool
) -> Iterator[tuple[Job, Trainee]]:
    """A run at its beginning or where it stands; within the block, its folder is locked.

    ``recipe.toml`` makes a folder a run that can be resumed. It is written when the data is read, or before
    that if reading can be resumed too. A run that cannot be resumed leaves nothing, and neither does one that
    is refused before its first checkpoint: the same command works once the cause is gone.
    """
    resolved = write_recipe(recipe)
    made = run.create() if new else False
    with run.held():
        run.clear_leftovers()
        try:
            if new and TASKS[recipe.task].resumable_reading:
                atomic_write(run.recipe, resolved)
            job = prepare(recipe, display.note, folder=run.root, advance=display.advance)
            trainee = begin(job, display.note)
            if new:
                atomic_write(run.recipe, resolved)
            elif run.last.exists():
                trainee.state.restore(run.last)
            yield job, trainee
        except BaseException as error:
            if new and not run.last.exists() and (_is_refusal(error) or not run.recipe.exists()):
                _remove(run, made=made)
            raise


def _is_refusal(error: BaseException) -> bool:
    """Whether the recipe or its data cannot be used; a full disk, say, is no fault of theirs."""
    return isinstance(error, GonieError) and not isinstance(error, OutputError)


def _remove(run: RunFolder, *, made: bool) -> None:
    with suppress(OSError):  # the folder is not empty if the recipe keeps its cache there
        run.remove()
        if made:
            run.root.rmdir()


def _complete_all(job: Job, run: RunFolder, trainee: Trainee, display: RunDisplay) -> RunResult | None:
    """The run and its variants; None if it was interrupted."""
    complete = _complete(job, run, trainee, display)
    if complete is None:
        return None
    trained, result = complete
    variants: dict[str, RunOutput] = {}
    for name, variant in build_variants(job.recipe).items():
        display.note(f"training a variant: {name}")
        other = _run_variant(variant, run.variant(name), display)
        if other is None:
            return None
        variants[name] = other.output
        result = replace(result, seconds=result.seconds + other.seconds)
    output = job.add_comparisons(trained, result.output, variants, display.note)
    return replace(result, output=output)


def _run_variant(recipe: Recipe, run: RunFolder, display: RunDisplay) -> RunResult | None:
    """The whole run of a variant, begun or gone on with."""
    with _opened(recipe, run, display, new=not run.recipe.is_file()) as (job, trainee):
        complete = _complete(job, run, trainee, display)
    return complete.result if complete else None


def _complete(job: Job, run: RunFolder, trainee: Trainee, display: RunDisplay) -> _Complete | None:
    """Train up to the best model, and finish it; None if it was interrupted."""
    started = time.monotonic()
    for name, content in job.files().items():
        atomic_write(run.root / name, content)
    if must_compile(trainee.model, per_window=job.recipe.train.optimizer == "per-window"):
        display.note("compiling the model's loops for this processor: about fifteen seconds, once")
    progress = trainee.state.progress
    display.begin(
        Summary(
            folder=run.root,
            rows=trainee.setup.summary,
            epochs=job.recipe.train.epochs,
            first_epoch=progress.epoch + 1,
            complete=progress.finished,
        )
    )
    if not fit(job, run, trainee, display):
        return None
    load_weights(run.best, trainee.setup.weights)
    progress = trainee.state.progress
    trained = TrainedRun(run.root, trainee.model, run.history(), progress.best_epoch + 1)
    output = job.finish(trained, display.note)
    output = replace(output, commands=[*_commands(TASKS[job.recipe.task], run.root), *output.commands])
    result = RunResult(run.root, output, trained.best_epoch, time.monotonic() - started)
    return _Complete(trained, result)


def _commands(task: Task, folder: Path) -> list[str]:
    """The commands that use a model of the task."""
    model = shlex.quote(str(folder))
    texts = " ".join(['"your text"'] * len(task.sample))
    predict = [f"gonie {task.predict} {model} {texts}"] if task.predict else []
    return [*predict, *([f"gonie evaluate {model} FILE"] if task.evaluation else [])]
