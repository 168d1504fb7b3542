"""A comparison from what was asked to its table and figure: start it, resume it, report.

    compare.json             what was asked (see plan.py)
    cells/NAME/              a run folder for each cell, seed and fold, with result.json once it is done
    results.json             every score, spread, p and curve
    table.md, table.tsv      a row a cell
    curves.png, curves.svg   scores by value and by epoch

Each file is written whole or not at all, in an order that a kill at any moment leaves a comparison that can
be resumed: what is done is not done again, and a run in its middle goes on from its checkpoint.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Protocol

from gonie.errors import GonieError, OutputError, ResumeError
from gonie.experiments.cell import Ended, Event, Note, Preparations, drop_weights
from gonie.experiments.comparison import Comparison, ComparisonRow
from gonie.experiments.figure import draw
from gonie.experiments.grid import load_cells, read_grid
from gonie.experiments.outcome import Outcome, read_outcome
from gonie.experiments.plan import CELLS, PLAN, RECIPE, Asked, ComparisonPlan
from gonie.experiments.tables import markdown, tsv
from gonie.experiments.workers import run_here, run_spread
from gonie.system.files import atomic_write, is_utf8, make_folder, remove_leftovers
from gonie.system.thread_map import cores
from gonie.tasks.recipe import load_recipe
from gonie.tasks.sections import CorpusRecipe
from gonie.tasks.torch.prepare import data_key
from gonie.training.fit import choose_device
from gonie.training.folder import held

REPORTS = ("results.json", "table.md", "table.tsv", "curves.png", "curves.svg")


class ComparisonDisplay(Protocol):
    """What a comparison tells while it goes on; the command line shows it."""

    def begin(self, plan: ComparisonPlan, *, done: int, jobs: int) -> None:
        """So many runs of the plan are done already, the others are about to be trained."""

    def event(self, event: Event, outcome: Outcome | None = None) -> None:
        """Something happened to a run; with its outcome, where that was its end."""

    def tested(self, number: int, rows: int) -> None:
        """So many rows have been tested against the best one."""

    def interrupted(self, folder: Path) -> None:
        """The comparison was asked to stop, and has saved where it stands."""

    def finished(self, comparison: Comparison, folder: Path) -> None:
        """Everything is trained, and the reports are written."""


def start_comparison(
    asked: Asked, folder: Path, display: ComparisonDisplay, *, jobs: int | None = None, keep: bool = False
) -> Comparison | None:
    """Compare what is asked for in a new ``folder``; None if interrupted.

    Every cell's recipe is checked and the first one's files are read before anything is made.
    """
    recipes = load_cells(read_grid(asked.recipes, asked.changes), folds=asked.folds)
    _choose_jobs(recipes, jobs)
    _refuse_taken(folder)
    plan = ComparisonPlan.of(asked, recipes, keep=keep)
    preparations = Preparations()
    preparations.get(recipes[0], lambda text: display.event(Note(text)))
    make_folder(folder)
    with held(folder):
        _refuse_taken(folder)  # by another process, while the files were read
        plan.write(folder, recipes)
        return _go_on(plan, folder, display, jobs=jobs, preparations=preparations)


def resume_comparison(
    folder: Path,
    display: ComparisonDisplay,
    *,
    recipes: Sequence[str] = (),
    changes: Sequence[str] = (),
    seeds: int | None = None,
    folds: int | None = None,
    jobs: int | None = None,
    keep: bool = False,
) -> Comparison | None:
    """Go on with the comparison in ``folder``; what is asked again must be what it began with."""
    plan = ComparisonPlan.read(folder)
    began = plan.asked
    again = Asked(
        tuple(recipes) or began.recipes,
        tuple(changes) or began.changes,
        seeds or began.seeds,
        folds or began.folds,
    )
    if again != began or (keep and not plan.keep):  # the weights of cells that are done are gone
        raise ResumeError(
            f"{folder / PLAN}: the command asks for something else than the comparison began with. "
            "Resume with --out and --resume alone, or start a new one with another --out."
        )
    with held(folder):
        remove_leftovers(folder)
        return _go_on(plan, folder, display, jobs=jobs, preparations=Preparations())


def _refuse_taken(folder: Path) -> None:
    """Nothing that lies in the folder may be written over."""
    if (folder / PLAN).exists():
        raise OutputError(
            f"{folder}: expected a new folder, got one that holds a comparison already. "
            "Go on with it (--resume), or write elsewhere (--out DIR)."
        )
    if not is_utf8(str(folder.absolute())):  # safetensors opens no other
        raise OutputError(f"{folder}: expected a folder's name in UTF-8. Write elsewhere (--out DIR).")
    if folder.exists() and not folder.is_dir():
        raise OutputError(f"{folder}: expected a folder, got a file. Write elsewhere (--out DIR).")
    if taken := [name for name in REPORTS if (folder / name).exists()]:
        raise OutputError(
            f"{folder}: expected a new folder, got one with {', '.join(taken)}, which the comparison would "
            "write over. Write elsewhere (--out DIR)."
        )


def _choose_jobs(recipes: Sequence[CorpusRecipe], jobs: int | None) -> int:
    """How many cells to train side by side: as asked, else one a core, but one at a time on a GPU."""
    on_gpu = "cuda" in {choose_device(recipe.train).type for recipe in recipes}
    cached = any(recipe.data.cache for recipe in recipes)
    if cached and (jobs or 1) > 1:
        raise GonieError(
            f"--jobs {jobs}: expected 1 with data.cache, since all cells would write the same folder. "
            "Leave --jobs or data.cache away."
        )
    return max(1, min(jobs or (1 if on_gpu or cached else cores()), len(recipes)))


def _go_on(
    plan: ComparisonPlan,
    folder: Path,
    display: ComparisonDisplay,
    *,
    jobs: int | None,
    preparations: Preparations,
) -> Comparison | None:
    """Train what is not done yet, then report."""
    waiting: dict[Path, CorpusRecipe] = {}
    for run in plan.runs:
        place = folder / CELLS / run.folder
        if read_outcome(place) is None:
            waiting[place] = load_recipe(place / RECIPE)
        elif not plan.keep:
            drop_weights(place)  # which a kill right after the result left
    jobs = _choose_jobs(list(waiting.values()), jobs)
    display.begin(plan, done=len(plan.runs) - len(waiting), jobs=jobs)

    def tell(event: Event) -> None:
        display.event(event, read_outcome(event.folder) if isinstance(event, Ended) else None)

    if jobs == 1:
        complete = run_here(_alike_together(waiting), preparations, tell, keep=plan.keep)
    else:
        preparations.forget()  # every worker has its own
        complete = run_spread(_alike_together(waiting), tell, jobs=jobs, keep=plan.keep)
    if complete:
        with suppress(KeyboardInterrupt):  # what is trained is kept, and reported when it is resumed
            return _report(plan, folder, display)
    display.interrupted(folder)
    return None


def _alike_together(recipes: Mapping[Path, CorpusRecipe]) -> list[Path]:
    """Folders in the order asked, but those that read the same data in a row, so that it is read once."""
    keys = {place: data_key(recipe) for place, recipe in recipes.items()}
    first = {key: number for number, key in reversed(list(enumerate(keys.values())))}
    return sorted(keys, key=lambda place: first[keys[place]])


def _report(plan: ComparisonPlan, folder: Path, display: ComparisonDisplay) -> Comparison:
    """Judge the outcomes and write them in every form."""
    rows = _rows(plan, folder)
    comparison = Comparison.judge(plan.grid.axes, rows, lambda number: display.tested(number, len(rows)))
    text = json.dumps(comparison.to_json(), ensure_ascii=False, indent=1)
    contents: tuple[str | bytes, ...] = (text, markdown(comparison), tsv(comparison), *draw(comparison))
    for name, content in zip(REPORTS, contents, strict=True):
        atomic_write(folder / name, content)
    display.finished(comparison, folder)
    return comparison


def _rows(plan: ComparisonPlan, folder: Path) -> list[ComparisonRow]:
    grid = plan.grid
    rows = []
    for number, cell in enumerate(grid.cells):
        runs = [run for run in plan.runs if run.cell == number]
        outcomes = [read_outcome(folder / CELLS / run.folder) for run in runs]
        rows.append(
            ComparisonRow(
                name=grid.name(cell),
                values=cell.values,
                folders=tuple(f"{CELLS}/{run.folder}" for run in runs),
                seeds=tuple(run.seed for run in runs),
                folds=tuple(run.fold for run in runs if run.fold),
                outcomes=tuple(outcome for outcome in outcomes if outcome is not None),
            )
        )
    return rows
