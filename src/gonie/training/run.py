"""Starts, resumes and finishes training runs.

``fit`` trains up to the best weights, and the job writes the results. Each file is written atomically. The
order of the writes leaves a resumable run if the process is killed at any moment.
"""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple, Protocol

from gonie.errors import GonieError, OutputError, RecipeError, ResumeError
from gonie.features.lm_text import TokenisingProgress
from gonie.system.cost import CostMeter, RunCost
from gonie.system.files import atomic_write
from gonie.tasks.external import RecipeVectors
from gonie.tasks.paths import missing_paths, with_absolute_paths
from gonie.tasks.recipe import load_recipe, recipe_name
from gonie.tasks.sections import CorpusRecipe, Recipe
from gonie.tasks.start import resolve_recipe
from gonie.tasks.table import TASKS
from gonie.tasks.task import Task
from gonie.tasks.torch.checkpoint import load_weights
from gonie.tasks.torch.compiled_loops import must_compile
from gonie.tasks.torch.job import Evaluated, Job, RunOutput, TrainedRun
from gonie.tasks.torch.prepare import prepare
from gonie.tasks.torch.training_setup import Rows
from gonie.tasks.written_recipe import recipe_origin, toml_value, write_recipe
from gonie.training.cost import metered_run, metered_scoring
from gonie.training.fit import (
    COMPILING,
    TrainingObserver,
    TrainingSession,
    begin_training,
    choose_device,
    fit,
    memory_errors,
    set_up_torch,
)
from gonie.training.folder import RunFolder, next_folder
from gonie.training.loss_terms.table import check_outputs, check_terms, with_absolute_terms
from gonie.training.variants import build_variants


class RunDisplay(TrainingObserver, Protocol):
    """Shows the progress of a run. The command line implements it."""

    def note(self, text: str) -> None:
        """Called with a message about the data or the run."""

    def advance(self, advance: TokenisingProgress) -> None:
        """Called while text is tokenised."""

    def begin(self, summary: Summary) -> None:
        """Called before training."""

    def interrupted(self, folder: Path) -> None:
        """Called when the run was interrupted and its progress is saved."""

    def finished(self, result: RunResult) -> None:
        """Called when the run is complete."""


@dataclass(frozen=True)
class Summary:
    """The data and model of a run, shown before training."""

    folder: Path
    rows: Rows
    """Names and values that describe the data and the model."""
    epochs: int
    first_epoch: int
    """The first epoch to train, counted from 1."""
    complete: bool
    """Whether training was already complete."""


@dataclass(frozen=True)
class RunResult:
    """The result of a complete run."""

    folder: Path
    output: RunOutput
    best_epoch: int
    seconds: float
    """The time of the run and its variants, also before an interruption."""
    cost: RunCost
    """What the run cost, without its variants."""
    variants_cost: RunCost | None = None
    """What the variants cost together, if there are any."""

    @property
    def evaluations(self) -> Mapping[str, Evaluated]:
        """Evaluations by split: dev, and test if there is one."""
        return self.output.evaluations

    @property
    def baselines(self) -> Mapping[str, str]:
        """Scores of baselines and variants as text, by name."""
        return self.output.baselines


class _Opened(NamedTuple):
    """A run in training, and the meter of its cost."""

    job: Job
    session: TrainingSession
    meter: CostMeter


class _Complete(NamedTuple):
    """A finished run, and its trained model for comparisons."""

    trained: TrainedRun
    result: RunResult


def default_folder(recipe: str, *, resume: bool = False) -> Path:
    """Return the folder of a new run: runs/NAME or the next free name. To resume, return the latest run."""
    return next_folder(recipe_name(recipe), mark="recipe.toml", resume=resume)


def start_run(recipe: Recipe, folder: Path, display: RunDisplay, *, name: str = "") -> RunResult | None:
    """Train ``recipe`` and its variants in a new ``folder``. Return None if interrupted.

    ``name`` is the file or the name that the recipe was loaded by. The run remembers it.
    """
    task = TASKS[recipe.task]
    if problems := missing_paths(recipe):
        raise RecipeError(problems)
    recipe = resolve_recipe(with_absolute_terms(with_absolute_paths(recipe)), display.note)
    for each in (recipe, *build_variants(recipe).values()):  # all are checked before any training
        choose_device(each.train)
        check_terms(each)
        check_outputs(each)
    return _run(recipe, RunFolder(folder, task.run_files), display, new=True, origin=recipe_name(name))


def resume_run(
    folder: Path,
    display: RunDisplay,
    changes: Iterable[str] = (),
    *,
    name: str | None = None,
    command: str = "train",
) -> RunResult | None:
    """Resume the run in ``folder`` from its last checkpoint, with its own recipe.

    ``changes`` (``key=value``) may only repeat settings of the run, and ``name`` may only be the recipe that
    it was started with, or the one in its folder. ``command`` is the command that trains such recipes.
    """
    run = RunFolder(folder)
    run.reopen()
    if name is not None:
        _check_origin(run, name, command)
    own: Recipe = load_recipe(run.recipe, command=command)
    wanted: Recipe = with_absolute_terms(
        with_absolute_paths(load_recipe(run.recipe, changes, command=command))
    )
    if wanted != own:  # unless the run resolved a setting, such as auto, to its own
        wanted = resolve_recipe(wanted, lambda text: None)
    if wanted != own:
        differ = "; ".join(_differences(own.model_dump(mode="json"), wanted.model_dump(mode="json")))
        raise ResumeError(
            f"{run.recipe}: a resumed run keeps its settings: {differ}. "
            "Resume without this change, or start a new run with another --out."
        )
    choose_device(own.train)
    check_outputs(own)
    return _run(own, RunFolder(folder, TASKS[own.task].run_files), display, new=False)


def _check_origin(run: RunFolder, name: str, command: str) -> None:
    """Refuse to resume a run that was started with another recipe than ``name``."""
    origin = recipe_origin(run.recipe)
    own_file = Path(name).is_file() and Path(name).samefile(run.recipe)
    if origin is not None and not own_file and recipe_name(name) != origin:
        recipe, out = shlex.quote(str(run.recipe)), shlex.quote(str(run.root))
        raise ResumeError(
            f"{run.root} is a run of the recipe {origin!r}, not {name!r}. "
            f"Resume it with: gonie {command} {recipe} --out {out} --resume"
        )


def _differences(own: Mapping[str, Any], wanted: Mapping[str, Any], prefix: str = "") -> Iterator[str]:
    """Yield each key that differs, with its value in the run and the other one."""
    for key in dict.fromkeys((*own, *wanted)):
        here, there = own.get(key), wanted.get(key)
        if isinstance(here, dict) and isinstance(there, dict):
            yield from _differences(here, there, f"{prefix}{key}.")
        elif here != there:
            yield f"{prefix}{key} is {_value(here)}, not {_value(there)}"


def _value(value: Any) -> str:
    return "unset" if value is None else toml_value(value)


def _run(
    recipe: Recipe, run: RunFolder, display: RunDisplay, *, new: bool, origin: str = ""
) -> RunResult | None:
    """Train the run and its variants. Return None if interrupted."""
    try:
        with memory_errors(), _opened(recipe, run, display, new=new, origin=origin) as opened:
            result = _complete_all(opened, run, display)
    except KeyboardInterrupt:  # outside of training; finished work is kept
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
    recipe: Recipe, run: RunFolder, display: RunDisplay, *, new: bool, origin: str = ""
) -> Iterator[_Opened]:
    """Open a new or resumed run, with its folder locked during the block.

    A folder with ``recipe.toml`` is a run that can be resumed. The file is written after the data is read, or
    before if reading can be resumed too. A run that fails before its first checkpoint is deleted, so that the
    same command works once the cause is fixed.
    """
    resolved = write_recipe(recipe, origin=origin)
    made = run.create() if new else False
    with run.locked():
        run.clear_leftovers()
        try:
            with metered_run(run, choose_device(recipe.train), display.note) as meter:
                if new and TASKS[recipe.task].resumable_reading:
                    atomic_write(run.recipe, resolved)
                job = prepare(recipe, display.note, folder=run.root, advance=display.advance)
                set_up_torch(recipe.train)
                meter.begin("training")
                session = begin_training(job, display.note)
                if new:
                    atomic_write(run.recipe, resolved)
                elif run.last.exists():
                    session.state.restore(run.last)
                yield _Opened(job, metered_scoring(session, meter), meter)
        except BaseException as error:
            if new and not run.last.exists() and (_is_bad_input(error) or not run.recipe.exists()):
                _remove(run, made=made)
            raise


def _is_bad_input(error: BaseException) -> bool:
    """Return whether the recipe or its data are at fault, and not for example a full disk."""
    return isinstance(error, GonieError) and not isinstance(error, OutputError)


def _remove(run: RunFolder, *, made: bool) -> None:
    with suppress(OSError):  # the folder is not empty if data.cache is inside
        run.remove()
        if made:
            run.root.rmdir()


def _complete_all(opened: _Opened, run: RunFolder, display: RunDisplay) -> RunResult | None:
    """Complete the run and its variants. Return None if interrupted."""
    complete = _complete(opened, run, display)
    if complete is None:
        return None
    trained, result = complete
    job, meter = opened.job, opened.meter
    variants: dict[str, RunOutput] = {}
    cost: RunCost | None = None
    for name, variant in build_variants(job.recipe).items():
        display.note(f"training variant: {name}")
        with meter.during(None):  # it has its own meter
            other = _run_variant(variant, run.variant(name), display)
        if other is None:
            return None
        variants[name] = other.output
        cost = other.cost if cost is None else cost + other.cost
        result = replace(result, seconds=result.seconds + other.seconds)
    output = job.add_comparisons(trained, result.output, variants, display.note)
    return replace(result, output=output, cost=meter.save(), variants_cost=cost)


def _run_variant(recipe: Recipe, run: RunFolder, display: RunDisplay) -> RunResult | None:
    """Start or resume the run of a variant."""
    with _opened(recipe, run, display, new=not run.recipe.is_file()) as opened:
        complete = _complete(opened, run, display)
    return complete.result if complete else None


def _complete(opened: _Opened, run: RunFolder, display: RunDisplay) -> _Complete | None:
    """Train up to the best model, and write the results. Return None if interrupted."""
    job, session, meter = opened
    for name, content in job.files().items():
        atomic_write(run.root / name, content)
    if must_compile(session.model, per_window=job.recipe.train.optimizer == "per-window"):
        display.note(COMPILING)
    progress = session.state.progress
    display.begin(
        Summary(
            folder=run.root,
            rows=session.setup.summary,
            epochs=job.recipe.train.epochs,
            first_epoch=progress.epoch + 1,
            complete=progress.finished,
        )
    )
    if not fit(job, run, session, display, after_checkpoint=meter.save):
        return None
    meter.begin("finishing")
    load_weights(run.best, session.setup.weights)
    progress = session.state.progress
    trained = TrainedRun(run.root, session.model, run.history(), progress.best_epoch + 1, meter.total)
    output = job.finish(trained, display.note)
    commands = _commands(TASKS[job.recipe.task], run.root, job.recipe)
    output = replace(output, commands=[*commands, *output.commands])
    cost = meter.save()
    return _Complete(trained, RunResult(run.root, output, trained.best_epoch, cost.wall_seconds, cost))


def _commands(task: Task, folder: Path, recipe: Recipe) -> list[str]:
    """The commands that use a model of the task."""
    model = shlex.quote(str(folder))
    if isinstance(recipe, CorpusRecipe) and RecipeVectors(recipe):  # a text alone is not enough
        vectors = "FILE --vectors FILE"
        return [f"gonie {task.predict} {model} --file {vectors}", f"gonie evaluate {model} {vectors}"]
    texts = '"your text"' if len(task.sample) == 1 else '"first text" "second text"'
    predict = [f"gonie {task.predict} {model} {texts}"] if task.predict else []
    return [*predict, *([f"gonie evaluate {model} FILE"] if task.evaluation else [])]
