"""Running a comparison: start or resume it, then write its table and figure.

    compare.json             the request (see plan.py)
    cells/NAME/              a run folder per cell, seed and fold or step, with result.json when it is done
    results.json             all scores, standard deviations, p-values and curves
    table.md, table.tsv      one row per cell
    curves.png, curves.svg   scores by value and by epoch
    sizes.html, …            with training sizes: where the lines cross (see size_report.py)

Each file is written atomically. The order of the writes leaves a resumable comparison if the process is
killed at any moment: finished runs are not repeated, and an unfinished run resumes from its checkpoint.
"""

from __future__ import annotations

import json
import shlex
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Protocol

from gonie.errors import GonieError, InputError, OutputError, ResumeError
from gonie.experiments import sequence_tables
from gonie.experiments.cell import Ended, Event, Keeping, Note, Preparations, drop_weights
from gonie.experiments.comparison import Comparison, ComparisonRow
from gonie.experiments.figure import draw, missing_fonts
from gonie.experiments.grid import load_cells
from gonie.experiments.line import read_recipe
from gonie.experiments.outcome import Outcome, read_outcome
from gonie.experiments.plan import CELLS, PLAN, RECIPE, ComparisonPlan, ComparisonRequest
from gonie.experiments.sequence import SequenceComparison, SequenceRow, check_sequence
from gonie.experiments.size_figure import draw_sizes, missing_size_fonts
from gonie.experiments.size_report import CHART, PAGE, SIZE_REPORTS, VALUES, SizeReport, is_warning
from gonie.experiments.sizes import check_models, check_recipes, check_request, check_total, few_steps
from gonie.experiments.tables import failures, markdown, tsv
from gonie.experiments.workers import run_in_parallel, run_in_process
from gonie.reports.size_comparison import SizeComparison
from gonie.reports.size_page import render_sizes
from gonie.reports.size_verdict import verdict
from gonie.system.files import atomic_write, is_utf8, make_folder, remove_leftovers
from gonie.system.thread_map import cores
from gonie.tasks.recipe import load_recipe
from gonie.tasks.sections import SPLITS, CorpusRecipe
from gonie.tasks.torch.prepare import data_key
from gonie.training.fit import choose_device
from gonie.training.folder import lock_run

REPORTS = ("results.json", "table.md", "table.tsv", "curves.png", "curves.svg")


class ComparisonDisplay(Protocol):
    """Shows the progress of a comparison. The command line implements it."""

    def begin(self, plan: ComparisonPlan, *, done: int, jobs: int) -> None:
        """Called before training. ``done`` runs of the plan are already finished."""

    def event(self, event: Event, outcome: Outcome | None = None) -> None:
        """Called on each event of a run, with its outcome if the run ended."""

    def tested(self, number: int, rows: int) -> None:
        """Called when ``number`` of ``rows`` rows have been tested against the best one."""

    def interrupted(self, folder: Path) -> None:
        """Called when the comparison was interrupted and its progress is saved."""

    def finished(self, comparison: Comparison, folder: Path) -> None:
        """Called when all runs are trained and the reports are written."""

    def measuring(self, what: str, done: int, number: int) -> None:
        """Called while existing models are scored and speeds are measured, with how much is done."""

    def finished_sizes(self, found: SizeComparison, folder: Path) -> None:
        """Called after ``finished`` with the scores by training size, if sizes were compared."""

    def finished_sequence(self, comparison: SequenceComparison, folder: Path) -> None:
        """Called instead of ``finished`` if domains were learned one after another."""


def start_comparison(
    request: ComparisonRequest,
    folder: Path,
    display: ComparisonDisplay,
    *,
    jobs: int | None = None,
    keep: bool = False,
) -> Comparison | SequenceComparison | None:
    """Run the requested comparison in a new ``folder``. Return None if interrupted.

    The recipes of all cells are checked, and the files of the first cell are read, before anything is
    written.
    """
    notes: list[str] = []

    def note(text: str) -> None:
        notes.append(text)
        display.event(Note(text))

    _refuse_data_files(request)
    check_request(request)
    grid = request.grid
    recipes = load_cells(grid, folds=request.folds, note=note)
    if request.in_sequence:
        check_sequence(recipes)
    if request.sizes:
        check_recipes(grid, recipes)
        check_models(request, recipes[0])
        for text in dict.fromkeys(few_steps(request.sizes, recipe) for recipe in recipes):
            note(text) if text else None
    _choose_jobs(recipes, jobs)
    _check_folder(folder)
    plan = ComparisonPlan.of(request, recipes, keep=keep)
    preparations = Preparations()
    first = next(
        (run for run in plan.runs if run.shipped), plan.runs[0]
    )  # the largest size, if there are any
    job = preparations.get(first.recipe(recipes[first.cell], folder / CELLS), note)
    check_total(request.sizes, job.labelled, job.noun)
    plan = replace(plan, warnings=tuple(text for text in dict.fromkeys(notes) if is_warning(text)))
    make_folder(folder)
    with lock_run(folder):
        _check_folder(folder)  # another process may have created it while the files were read
        plan.write(folder, recipes)
        return _run_remaining(plan, folder, display, jobs=jobs, preparations=preparations)


def _refuse_data_files(request: ComparisonRequest) -> None:
    """Refuse data files among the recipes, with the settings that take them: train, dev and test."""
    names = [read_recipe(argument).recipe for argument in request.recipes]
    files = [name for name in names if Path(name).is_file() and Path(name).suffix != ".toml"]
    if not files:
        return
    recipes = [shlex.quote(name) for name in names if name not in files] or ["RECIPE"]
    given = [f"data.{split}={file}" for split, file in zip(SPLITS, files, strict=False)]
    settings = [f"--set {shlex.quote(change)}" for change in (*given, *request.changes)]
    raise InputError(
        f"{files[0]} is not a recipe",
        fix=f"For your own data: gonie compare {' '.join([*recipes, *settings])}",
    )


def resume_comparison(
    folder: Path,
    display: ComparisonDisplay,
    *,
    recipes: Sequence[str] = (),
    changes: Sequence[str] = (),
    seeds: int | None = None,
    folds: int | None = None,
    in_sequence: bool = False,
    sizes: Sequence[str] = (),
    models: Sequence[str] = (),
    jobs: int | None = None,
    keep: bool = False,
) -> Comparison | SequenceComparison | None:
    """Resume the comparison in ``folder``. Options that are given again must equal the original ones."""
    plan = ComparisonPlan.read(folder)
    began = plan.request
    again = ComparisonRequest(
        tuple(recipes) or began.recipes,
        tuple(changes) or began.changes,
        seeds or began.seeds,
        folds or began.folds,
        in_sequence or began.in_sequence,
        tuple(sizes) or began.sizes,
        tuple(models) or began.models,
    )
    if again != began or (keep and not plan.keep):  # the weights of finished cells are already deleted
        raise ResumeError(
            f"{folder / PLAN}: the options differ from those the comparison began with. "
            "Resume with --out and --resume alone, or start a new one with another --out."
        )
    with lock_run(folder):
        remove_leftovers(folder)
        return _run_remaining(plan, folder, display, jobs=jobs, preparations=Preparations())


def create_folder(folder: Path) -> bool:
    """Create the folder of a new comparison. Return whether it did not exist before."""
    _check_folder(folder)
    made = not folder.exists()
    make_folder(folder)
    return made


def _check_folder(folder: Path) -> None:
    """Refuse to overwrite anything in the folder."""
    if (folder / PLAN).exists():
        raise OutputError(
            f"{folder} already contains a comparison. Resume it with --resume, or choose another --out."
        )
    if not is_utf8(str(folder.absolute())):  # required by safetensors
        raise OutputError(f"{folder}: the folder name is not UTF-8. Choose another --out.")
    if folder.exists() and not folder.is_dir():
        raise OutputError(f"{folder} is a file, not a folder. Choose another --out.")
    if taken := [name for name in (*REPORTS, *SIZE_REPORTS) if (folder / name).exists()]:
        raise OutputError(
            f"{folder} has files that the comparison would overwrite: {', '.join(taken)}. "
            "Choose another --out."
        )


def _choose_jobs(recipes: Sequence[CorpusRecipe], jobs: int | None) -> int:
    """Return the number of parallel cells: as requested, else one per core, or one in total on a GPU."""
    on_gpu = "cuda" in {choose_device(recipe.train).type for recipe in recipes}
    cached = any(recipe.data.cache for recipe in recipes)
    if cached and (jobs or 1) > 1:
        raise GonieError(
            f"--jobs {jobs} cannot be combined with data.cache, since all cells would write the same folder. "
            "Remove one of them."
        )
    return max(1, min(jobs or (1 if on_gpu or cached else cores()), len(recipes)))


def _run_remaining(
    plan: ComparisonPlan,
    folder: Path,
    display: ComparisonDisplay,
    *,
    jobs: int | None,
    preparations: Preparations,
) -> Comparison | SequenceComparison | None:
    """Train the remaining runs, then write the reports."""
    waiting: dict[Path, CorpusRecipe] = {}
    for run in plan.runs:
        place = folder / CELLS / run.folder
        if read_outcome(place) is None:
            waiting[place] = load_recipe(place / RECIPE)
        elif not plan.keep and not run.step:
            drop_weights(place)  # left behind if the process was killed right after the result
    jobs = _choose_jobs(list(waiting.values()), jobs)
    chains = _chains(plan, folder, waiting)
    keep = Keeping(
        weights=plan.keep or plan.request.in_sequence,  # the next step of a sequence starts from the weights
        bundles=frozenset(folder / CELLS / run.folder for run in plan.runs if run.shipped),
    )
    display.begin(plan, done=len(plan.runs) - len(waiting), jobs=jobs)

    def tell(event: Event) -> None:
        display.event(event, read_outcome(event.folder) if isinstance(event, Ended) else None)

    if jobs == 1:
        complete = run_in_process(chains, preparations, tell, keep=keep)
    else:
        preparations.forget()  # every worker has its own
        complete = run_in_parallel(chains, tell, jobs=jobs, keep=keep)
    if complete:
        with suppress(KeyboardInterrupt):  # finished runs are kept, and resuming writes the reports
            report = _report_sequence if plan.request.in_sequence else _report
            return report(plan, folder, display)
    display.interrupted(folder)
    return None


def _chains(plan: ComparisonPlan, folder: Path, waiting: Mapping[Path, CorpusRecipe]) -> list[list[Path]]:
    """Return the folders of the runs to train, those of a sequence in one chain."""
    if not plan.request.in_sequence:
        return [[place] for place in _group_by_data(waiting)]
    chains = [[folder / CELLS / run.folder for run in chain] for chain in plan.chains]
    left = [[place for place in chain if place in waiting] for chain in chains]
    return [chain for chain in left if chain]


def _group_by_data(recipes: Mapping[Path, CorpusRecipe]) -> list[Path]:
    """Return the folders in order, but group those that read the same data, so that it is read once."""
    keys = {place: data_key(recipe) for place, recipe in recipes.items()}
    first = {key: number for number, key in reversed(list(enumerate(keys.values())))}
    return sorted(keys, key=lambda place: first[keys[place]])


def _report(plan: ComparisonPlan, folder: Path, display: ComparisonDisplay) -> Comparison:
    """Compare the outcomes and write all reports."""
    rows = _rows(plan, folder)
    comparison = Comparison.from_rows(plan.grid.axes, rows, lambda number: display.tested(number, len(rows)))
    text = json.dumps(comparison.to_json(), ensure_ascii=False, indent=1)
    contents: tuple[str | bytes, ...] = (text, markdown(comparison), tsv(comparison), *draw(comparison))
    for name, content in zip(REPORTS, contents, strict=True):
        atomic_write(folder / name, content)
    if text := missing_fonts(comparison):
        display.event(Note(text))
    found = _report_sizes(plan, folder, comparison, display) if plan.request.sizes else None
    display.finished(comparison, folder)
    if found is not None:
        display.finished_sizes(found, folder)
    return comparison


def _report_sizes(
    plan: ComparisonPlan, folder: Path, comparison: Comparison, display: ComparisonDisplay
) -> SizeComparison | None:
    """Score the existing models, measure costs, and write the page and the chart of scores by size.

    Returns None if all runs failed.
    """
    if not any(row.scores for row in comparison.rows):
        return None

    def note(text: str) -> None:
        display.event(Note(text))

    report = SizeReport(plan, folder, note, display.measuring)
    found = report.collect(comparison)
    png, svg = draw_sizes(found)
    warnings = [*plan.warnings, *(text for text in report.told if is_warning(text))]
    page = render_sizes(
        found,
        title=f"{found.metric[:1].upper()}{found.metric[1:]} by training size",
        told=[text for text in report.told if not is_warning(text)],
        warnings=[*warnings, *(f"failed: {line}" for line in failures(comparison))],
    )
    own = {"verdict": verdict(found), "warnings": warnings}
    values = json.dumps({**own, **found.to_json()}, ensure_ascii=False, indent=1)
    contents: dict[str, str | bytes] = {PAGE: page, f"{CHART}.png": png, f"{CHART}.svg": svg, VALUES: values}
    for name, content in contents.items():
        atomic_write(folder / name, content)
    if text := missing_size_fonts(found):
        note(text)
    return found


def _report_sequence(plan: ComparisonPlan, folder: Path, display: ComparisonDisplay) -> SequenceComparison:
    """Collect the matrices of all chains and write all reports."""
    grid, chains = plan.grid, plan.chains
    domains: list[str] = []
    for run in chains[0]:
        recipe: CorpusRecipe = load_recipe(folder / CELLS / run.folder / RECIPE)
        domains += recipe.data.files("train")
    rows = []
    for number, cell in enumerate(grid.cells):
        own = [chain for chain in chains if chain[0].cell == number]
        outcomes = [[read_outcome(folder / CELLS / run.folder) for run in chain] for chain in own]
        rows.append(
            SequenceRow(
                name=grid.name(cell),
                values=cell.values,
                seeds=tuple(chain[0].seed for chain in own),
                chains=tuple(tuple(each for each in chain if each is not None) for chain in outcomes),
                domains=tuple(domains),
            )
        )
    comparison = SequenceComparison(grid.axes, tuple(domains), tuple(rows))
    text = json.dumps(comparison.to_json(), ensure_ascii=False, indent=1)
    contents = (text, sequence_tables.markdown(comparison), sequence_tables.tsv(comparison))
    for name, content in zip(REPORTS, contents, strict=False):
        atomic_write(folder / name, content)
    for run in plan.runs if not plan.keep else ():
        drop_weights(folder / CELLS / run.folder)
    display.finished_sequence(comparison, folder)
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
