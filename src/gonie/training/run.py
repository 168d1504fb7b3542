"""A training run from recipe to run folder: start it, resume it, finish it.

``fit`` trains and keeps the best weights; here they become the exported bundle with its scores and a report.
Every file is written whole or not at all, in an order that a kill at any moment leaves a run that can be
resumed.
"""

from __future__ import annotations

import json
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Protocol

from gonie.errors import ResumeError
from gonie.export.driver import export_model
from gonie.system.files import atomic_write
from gonie.tasks.paths import with_absolute_paths
from gonie.tasks.recipe import load_recipe, write_recipe
from gonie.tasks.sections import CorpusRecipe
from gonie.tasks.torch.checkpoint import load_weights
from gonie.tasks.torch.compiled_loops import must_compile
from gonie.tasks.torch.job import Beside, Evaluated, Job, Split
from gonie.tasks.torch.model import Model
from gonie.tasks.torch.prepare import prepare
from gonie.training.baselines import as_json, build_variants, summary
from gonie.training.fit import Trainee, Watcher, begin, choose_device, fit
from gonie.training.folder import RunFolder, next_folder
from gonie.training.loss_terms.table import check_terms
from gonie.training.memory import memory_errors


class RunDisplay(Watcher, Protocol):
    """What a run tells while it goes on, its training included; the command line shows it."""

    def note(self, text: str) -> None:
        """Something found or decided on the way."""

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
    device: str
    noun: str  # what examples are called: sentences, or texts
    examples: int
    tokens: int
    dev_examples: int
    parameters: int
    labels: dict[str, int]
    epochs: int
    first_epoch: int
    complete: bool
    metric: str


@dataclass(frozen=True)
class RunResult:
    """What a complete run leaves."""

    folder: Path
    evaluations: dict[str, Evaluated]  # by split: dev, and test where there is one
    best_epoch: int
    seconds: float
    task: str = "tag"
    beside: Mapping[str, str] = field(default_factory=dict)  # what it is to be read beside, a line each


def default_folder(recipe: str, *, resume: bool = False) -> Path:
    """runs/NAME; for a new run the next free name if that is taken, to resume the latest one there is."""
    return next_folder(Path(recipe).name.removesuffix(".toml"), mark="recipe.toml", resume=resume)


def start_run(recipe: CorpusRecipe, folder: Path, display: RunDisplay) -> RunResult | None:
    """Train ``recipe`` into a new ``folder``, then its variants; None if the run was interrupted."""
    recipe = with_absolute_paths(recipe)
    for each in (recipe, *build_variants(recipe).values()):  # what is wrong with one is said before anything
        choose_device(each.train)
        check_terms(each)
    run = RunFolder(folder)
    with memory_errors(), _begun(recipe, run, display) as (job, trainee):
        return _run(job, run, trainee, display)


def resume_run(folder: Path, display: RunDisplay, changes: Iterable[str] = ()) -> RunResult | None:
    """Go on with the run in ``folder`` from its last checkpoint, by its own recipe.

    ``changes`` (``key=value``) may repeat what the run began with; anything else is refused, since the result
    would be neither run's.
    """
    run = RunFolder(folder)
    run.reopen()
    own = load_recipe(run.recipe)
    if with_absolute_paths(load_recipe(run.recipe, changes)) != own:
        raise ResumeError(
            f"{run.recipe}: --set asks for something else than the run began with. "
            "Resume without it, or start a new run with another --out."
        )
    choose_device(own.train)
    with memory_errors(), _reopened(own, run, display) as (job, trainee):
        return _run(job, run, trainee, display)


@contextmanager
def _begun(recipe: CorpusRecipe, run: RunFolder, display: RunDisplay) -> Iterator[tuple[Job, Trainee]]:
    """A new run at its beginning, its folder held within the block."""
    resolved = write_recipe(recipe)
    made = run.create()
    with run.held():
        run.clear_leftovers()
        try:
            job = prepare(recipe, display.note)
            trainee = begin(job, display.note)
            atomic_write(run.recipe, resolved)  # the first file: from here on it can be resumed
        except BaseException:
            if made:
                with suppress(OSError):  # not empty, should the recipe keep its cache there
                    run.root.rmdir()
            raise
        yield job, trainee


@contextmanager
def _reopened(recipe: CorpusRecipe, run: RunFolder, display: RunDisplay) -> Iterator[tuple[Job, Trainee]]:
    """A run where it stands, its folder held within the block."""
    with run.held():
        run.clear_leftovers()
        job = prepare(recipe, display.note)
        trainee = begin(job, display.note)
        if run.last.exists():
            trainee.state.restore(run.last)
        yield job, trainee


def _run(job: Job, run: RunFolder, trainee: Trainee, display: RunDisplay) -> RunResult | None:
    """Train, then whatever the run is read beside."""
    try:
        result, rows = _complete_all(job, run, trainee, display)
    except KeyboardInterrupt:  # where it is no wish, as it is in training: what is done is kept all the same
        result, rows = None, []
    if result is None:
        display.interrupted(run.root)
        return None
    if rows:
        atomic_write(run.beside, json.dumps(as_json(rows), ensure_ascii=False, indent=1))
        _write_report(job, run, trainee.model, result.evaluations, rows)
    result = replace(result, beside=summary(rows))
    display.finished(result)
    return result


def _complete_all(
    job: Job, run: RunFolder, trainee: Trainee, display: RunDisplay
) -> tuple[RunResult | None, list[Beside]]:
    """The run itself, and what it is read beside; None if it was interrupted."""
    result = _complete(job, run, trainee, display)
    if result is None:
        return None, []
    rows: list[Beside] = []
    if job.recipe.train.baselines:
        display.note("scoring beside it models that learn next to nothing")
        rows += job.baselines()
    for name, variant in build_variants(job.recipe).items():
        display.note(f"beside it: {name}")
        other = _run_variant(variant, run.variant(name), display)
        if other is None:
            return None, []
        rows.append(Beside(name, other.evaluations))
        result = replace(result, seconds=result.seconds + other.seconds)
    return result, rows


def _run_variant(recipe: CorpusRecipe, run: RunFolder, display: RunDisplay) -> RunResult | None:
    """The whole run of a variant, begun or gone on with."""
    opened = _reopened if run.recipe.is_file() else _begun
    with opened(recipe, run, display) as (job, trainee):
        return _complete(job, run, trainee, display)


def _complete(job: Job, run: RunFolder, trainee: Trainee, display: RunDisplay) -> RunResult | None:
    """Train up to the best model, export and score it; None if it was interrupted."""
    started = time.monotonic()
    model = trainee.model
    for name, content in job.files().items():
        atomic_write(run.root / name, content)
    if must_compile(model, per_window=job.recipe.train.optimizer == "per-window"):
        display.note("compiling the model's loops for this processor: some fifteen seconds, once")
    display.begin(_summary(job, run, trainee))
    if not fit(job, run, trainee, display):
        return None
    load_weights(run.best, model)
    evaluations = _finish(job, run, model, display)
    best_epoch = trainee.state.progress.best_epoch + 1
    return RunResult(run.root, evaluations, best_epoch, time.monotonic() - started, job.recipe.task)


def _finish(job: Job, run: RunFolder, model: Model, display: RunDisplay) -> dict[str, Evaluated]:
    """Export the best model, score the export on every split there is, and write what a reader wants."""
    # cuDNN rounds to TF32, and the export is proved against all digits: hence on the CPU
    difference = export_model(job.exportable(model.cpu()), run.bundle).difference
    display.note(f"exported the best model; its scores equal the trained one's within {difference.value:.1g}")
    evaluations: dict[str, Evaluated] = {}
    splits: tuple[Split, ...] = ("dev", "test")
    for split in splits:
        if size := job.size(split):
            display.note(f"scoring {size:,} {split} {job.noun} with the exported model")
            evaluations[split] = job.evaluate(run.bundle, split)
    scores = {split: evaluation.to_json() for split, evaluation in evaluations.items()}
    atomic_write(run.evaluation, json.dumps(scores, ensure_ascii=False, indent=1))
    _write_report(job, run, model, evaluations)
    return evaluations


def _write_report(
    job: Job,
    run: RunFolder,
    model: Model,
    evaluations: dict[str, Evaluated],
    beside: Sequence[Beside] = (),
) -> None:
    last = list(evaluations)[-1]
    others = {"beside it": summary(beside)} if beside else {}
    page = job.report(
        evaluations[last],
        title=f"{run.root.name}: {last}",
        curve=run.history(),
        details={**others, **_details(job.recipe, run, model)},
    )
    atomic_write(run.report, page)


def _details(recipe: CorpusRecipe, run: RunFolder, model: Model) -> dict[str, Any]:
    return {
        "recipe": run.recipe.read_text("utf-8"),
        "parameters": sum(p.numel() for p in model.parameters()),
        "train": recipe.data.train,
        "seed": recipe.train.seed,
    }


def _summary(job: Job, run: RunFolder, trainee: Trainee) -> Summary:
    model, progress = trainee.model, trainee.state.progress
    return Summary(
        folder=run.root,
        device=str(next(model.parameters()).device),
        noun=job.noun,
        examples=len(job.train),
        tokens=job.train.tokens,
        dev_examples=job.size("dev"),
        parameters=sum(p.numel() for p in model.parameters()),
        labels=dict(job.labels.most_common()),
        epochs=job.recipe.train.epochs,
        first_epoch=progress.epoch + 1,
        complete=progress.finished,
        metric=trainee.dev.metric,
    )
