"""One run of a comparison: trained in its own folder, then scored with its best weights.

The result is the scores, the learning curve and a tally of the predictions for paired tests against other
cells. Only the model of a shipped run is exported. Progress is reported as ``Event``, in this process or
through a pipe.
"""

from __future__ import annotations

import shutil
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

from gonie.errors import GonieError, OutputError, ResumeError
from gonie.experiments.outcome import CellScores, Failure, Outcome, Point, write_outcome
from gonie.export.driver import export_model
from gonie.metrics.significance import Tally
from gonie.system.files import atomic_write
from gonie.tasks.recipe import load_recipe
from gonie.tasks.run_files import BUNDLE
from gonie.tasks.sections import CorpusRecipe
from gonie.tasks.torch.checkpoint import load_weights
from gonie.tasks.torch.compiled_loops import must_compile
from gonie.tasks.torch.dev_evaluator import DevEvaluator
from gonie.tasks.torch.job import ExampleJob, Split
from gonie.tasks.torch.prepare import data_key, prepare
from gonie.text.domains import domain_places
from gonie.training.cost import metered_run, metered_scoring
from gonie.training.fit import (
    COMPILING,
    TrainingSession,
    begin_training,
    choose_device,
    fit,
    memory_errors,
    set_up_torch,
)
from gonie.training.folder import RunFolder
from gonie.training.loop import Epoch, Step

REPORT_SECONDS = 0.5
"""Seconds between two progress events within an epoch."""


@dataclass(frozen=True)
class Note:
    """A message about something found or decided during the run."""

    text: str


@dataclass(frozen=True)
class Began:
    """The training of a cell starts or resumes."""

    folder: Path


@dataclass(frozen=True)
class Advanced:
    """The progress of a cell: ``share`` of epoch ``epoch`` (from 1) of ``epochs``, and its last dev score."""

    folder: Path
    epoch: int
    epochs: int
    share: float
    score: float | None


@dataclass(frozen=True)
class Ended:
    """A cell is finished, and its folder has the result."""

    folder: Path


Event = Note | Began | Advanced | Ended
Tell = Callable[[Event], None]


class Preparations:
    """Caches the data of the last cell for the next one, if both read the same."""

    def __init__(self) -> None:
        self._key = ""
        self._job: ExampleJob | None = None

    def forget(self) -> None:
        """Free the memory."""
        self._job = None

    def get(self, recipe: CorpusRecipe, note: Callable[[str], None]) -> ExampleJob:
        """Return the job of ``recipe``, reading its data only if it differs from the last."""
        key = data_key(recipe)
        if self._job is None or key != self._key:
            self._job = None  # free it first: both may not fit in memory
            self._job = prepare(recipe, note)
            self._key = key
        return self._job.with_recipe(recipe)


@dataclass(frozen=True)
class Keeping:
    """What is kept of finished runs, besides their results.

    ``weights`` says whether the checkpoints of all runs are kept. ``bundles`` are the folders of the runs
    whose models are exported.
    """

    weights: bool = False
    bundles: frozenset[Path] = frozenset()


NOTHING = Keeping()
"""The default: only results are kept."""


def run_cell(folder: Path, preparations: Preparations, tell: Tell, *, keep: Keeping = NOTHING) -> bool:
    """Train the run in ``folder`` by its recipe.toml, resuming if possible, and write its result.

    Returns False if it was interrupted. An error of the run itself, such as a loss that is not finite,
    becomes its result. A folder that cannot be written or that another process has locked raises an error.
    """
    run = RunFolder(folder)
    run.reopen()
    tell(Began(folder))
    with run.locked():
        run.clear_leftovers()
        try:
            with memory_errors():
                outcome = _outcome(run, preparations, tell, keep=keep)
        except (OutputError, ResumeError):
            raise
        except GonieError as error:
            outcome = Failure(str(error))
        except MemoryError:
            outcome = Failure("out of memory. Use smaller batches or a smaller model.")
        if outcome is None:
            return False
        write_outcome(folder, outcome)
        if not keep.weights:
            drop_weights(folder)
    tell(Ended(folder))
    return True


def drop_weights(folder: Path) -> None:
    """Delete the files that are needed only to resume a run."""
    run = RunFolder(folder)
    run.last.unlink(missing_ok=True)
    run.best.unlink(missing_ok=True)


def _outcome(run: RunFolder, preparations: Preparations, tell: Tell, *, keep: Keeping) -> Outcome | None:
    recipe = load_recipe(run.recipe)

    def note(text: str) -> None:
        tell(Note(text))

    with metered_run(run, choose_device(recipe.train), note) as meter:
        job = preparations.get(recipe, note)
        for name, content in job.files().items() if keep.weights else ():  # other runs may start from it
            atomic_write(run.root / name, content)
        set_up_torch(job.recipe.train)
        meter.begin("training")
        session = metered_scoring(begin_training(job), meter)
        if run.last.exists():
            session.state.restore(run.last)
        if must_compile(session.model, per_window=recipe.train.optimizer == "per-window"):
            note(COMPILING)
        observer = ProgressReporter(run.root, epochs=recipe.train.epochs, tell=tell)
        if not fit(job, run, session, observer, after_checkpoint=meter.save):
            return None
        meter.begin("scoring")
        load_weights(run.best, session.model)
        scores = _scores(job, run, session)
        if run.root in keep.bundles:
            meter.begin("finishing")
            _export(job, run, session, note)
        return replace(scores, cost=meter.save())


def _export(job: ExampleJob, run: RunFolder, session: TrainingSession, note: Callable[[str], None]) -> None:
    """Write the bundle of a run, or note why there is none."""
    bundle = run.root / BUNDLE
    if bundle.exists():  # the process was killed before the result was written
        shutil.rmtree(bundle)
    try:  # on the CPU, because cuDNN rounds to TF32 and the export is compared in full precision
        export_model(job.exportable(session.model.cpu(), lambda text: None), bundle)
    except GonieError as error:
        note(f"{run.root.name}: warning: not exported, so its speed and size are unknown: {error}")


def _scores(job: ExampleJob, run: RunFolder, session: TrainingSession) -> CellScores:
    """Return the scores of the best epoch. Dev and train are in the history, and test is scored now."""
    history = run.history()
    best = history[session.state.progress.best_epoch]
    tested = bool(job.size("test"))
    split: Split = "test" if tested else "dev"
    evaluator = DevEvaluator(job, session.model, split)
    tally = evaluator.tally()
    return CellScores(
        metric=best["metric"],
        dev=best["score"],
        train=best["train_score"],
        test=evaluator.score() if tested else None,
        best_epoch=best["epoch"],
        seconds=sum(record["seconds"] + record["dev_seconds"] for record in history),
        curve=tuple(Point(record["epoch"], record["score"], record["train_score"]) for record in history),
        tally=tally,
        domains=_by_domain(job, split, tally),
        labelled=job.labelled,
    )


def _by_domain(job: ExampleJob, split: Split, tally: Tally) -> dict[str, float] | None:
    """Return the score on each named file of a split, if its files have names."""
    if not isinstance(getattr(job.recipe.data, split, None), dict):
        return None
    places = domain_places(job.examples(split))
    return {name: replace(tally, counts=tally.counts[own]).f1 for name, own in places.items()}


class ProgressReporter:
    """Reports training progress: after every epoch, and from time to time within an epoch."""

    def __init__(self, folder: Path, *, epochs: int, tell: Tell) -> None:
        self._folder = folder
        self._epochs = epochs
        self._tell = tell
        self._score: float | None = None
        self._reported = time.monotonic()

    def step(self, step: Step) -> None:
        """Report a finished step."""
        if time.monotonic() - self._reported > REPORT_SECONDS:
            self._report(step.epoch, step.batch / step.batches)

    def epoch(self, epoch: Epoch) -> None:
        """Report a finished and scored epoch."""
        self._score = epoch.score
        self._report(epoch.epoch, 1.0)

    def _report(self, epoch: int, share: float) -> None:
        self._reported = time.monotonic()
        self._tell(Advanced(self._folder, epoch, self._epochs, share, self._score))
