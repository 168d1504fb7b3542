"""``gonie.compare``: train every combination of recipes and settings, and compare the results."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from functools import partial
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gonie.api.rows import Data
from gonie.api.run_data import DataFolder, data_files
from gonie.api.settings import changed_keys, python_messages, recipe_path, setting
from gonie.api.training import training_process
from gonie.errors import InputError
from gonie.reports.html.markup import element, fragment, row, table

if TYPE_CHECKING:
    from gonie.api.options import Device
    from gonie.experiments.comparison import Comparison
    from gonie.experiments.sequence import SequenceComparison


@dataclass(frozen=True)
class ComparedRecipes:
    """The result of a comparison: a row per combination, with its scores on dev and test.

    ``folder`` has a table, learning curves and the runs. ``comparison`` has everything else.
    """

    folder: Path
    comparison: Comparison = field(repr=False)

    @property
    def rows(self) -> list[dict[str, Any]]:
        """A row per combination: its values, mean scores as fractions, standard deviations, p-value, and
        what a run cost by the names of ``gonie.RunCost``, on average."""
        return [
            {
                **{axis.key: value for axis, value in zip(self.comparison.axes, each.values, strict=True)},
                **{name: spread.mean for name, spread in (("dev", each.dev), ("test", each.test)) if spread},
                "best": each.best,
                "p": each.p,
                **{name: spread.mean for name, spread in each.cost.items() if spread},
            }
            for each in self.comparison.rows
        ]

    @property
    def failures(self) -> int:
        """The number of runs that failed."""
        return self.comparison.failures

    def to_dict(self) -> dict[str, Any]:
        """Return the content of ``results.json``."""
        return self.comparison.to_json()

    def to_json(self) -> str:
        """Return ``to_dict`` as JSON."""
        return json.dumps(self.to_dict(), ensure_ascii=False)

    def __repr__(self) -> str:
        return f"ComparedRecipes({str(self.folder)!r}): " + "; ".join(self.comparison.summary())

    def _repr_html_(self) -> str:
        from gonie.experiments.tables import COST_COLUMNS, UNREACHABLE, cost_columns, seconds, unreachable

        missed = [UNREACHABLE] if self.comparison.has_unreachable else []
        costs = cost_columns(self.comparison)
        shown = (*missed, *(COST_COLUMNS[name] for name in costs))
        header = (*(axis.label for axis in self.comparison.axes), "dev", "test", *shown, "p")
        lines = [
            row(
                *each.values,
                *("" if spread is None else f"{100 * spread.mean:.2f}" for spread in (each.dev, each.test)),
                *([unreachable(each)] if missed else []),
                *(seconds(each.cost[name]) for name in costs),
                "best" if each.best else "" if each.p is None else f"{each.p:.3f}",
            )
            for each in self.comparison.rows
        ]
        notes = element("p", "; ".join(self.comparison.summary()))
        return fragment(table(caption=self.comparison.metric, header=header, rows=lines), notes)


@dataclass(frozen=True)
class ComparedSequences:
    """The result of training on domains one after another: a row per combination.

    ``folder`` has tables and the runs. ``comparison`` has everything else.
    """

    folder: Path
    comparison: SequenceComparison = field(repr=False)

    @property
    def rows(self) -> list[dict[str, Any]]:
        """A row per combination: its values, the mean ``scores`` (a list for each trained domain, with the
        score on each domain), and their summaries: ``final``, ``forgetting``, ``backward_transfer``."""
        return [
            {
                **{axis.key: value for axis, value in zip(self.comparison.axes, each.values, strict=True)},
                **(each.mean.to_json() if each.mean else {}),
            }
            for each in self.comparison.rows
        ]

    @property
    def failures(self) -> int:
        """The number of runs that failed."""
        return self.comparison.failures

    def to_dict(self) -> dict[str, Any]:
        """Return the content of ``results.json``."""
        return self.comparison.to_json()

    def to_json(self) -> str:
        """Return ``to_dict`` as JSON."""
        return json.dumps(self.to_dict(), ensure_ascii=False)

    def _repr_html_(self) -> str:
        from gonie.experiments import sequence_tables as tables

        found = [
            table(
                caption=each.name or self.comparison.metric,
                header=tables.matrix_header(self.comparison),
                rows=[row(*cells) for cells in tables.matrix_rows(each)],
            )
            for each in self.comparison.rows
        ]
        rows = [row(*tables.summary_cells(each)) for each in self.comparison.rows]
        summary = table(caption="Summary", header=tables.summary_header(self.comparison), rows=rows)
        return fragment(*found, summary, element("p", tables.note(self.comparison)))


def compare(
    recipes: str | PathLike[str] | Sequence[str | PathLike[str]],
    train: Data = None,
    dev: Data = None,
    test: Data = None,
    *,
    set: Mapping[str, Any] | None = None,
    seeds: int = 1,
    folds: int = 0,
    in_sequence: bool = False,
    out: str | PathLike[str] | None = None,
    resume: bool = False,
    jobs: int = 1,
    keep: bool = False,
    device: Device | None = None,
    progress: bool = True,
) -> ComparedRecipes | ComparedSequences:
    """Train every combination of ``recipes`` and of the values in ``set``, as ``gonie compare`` does.

    ``train``, ``dev`` and ``test`` are files or examples in memory, as for ``gonie.train``. ``set`` maps a
    recipe key to one value, or to a list of values to try: ``{"train.lr": [0.001, 0.002]}``. ``seeds`` is the
    number of runs per combination. ``folds`` cross-validates classifiers. ``in_sequence`` trains on the named
    files of ``data.train`` one after another, and returns how much is forgotten. ``jobs`` is the number of
    combinations that are trained in parallel, each in a new process. In a script, more than one requires
    ``if __name__ == "__main__":`` around the call, because new processes import the script. An interrupted
    comparison raises ``KeyboardInterrupt``; ``resume=True`` continues it.
    """
    with python_messages(recipe=True), training_process(), _display(progress=progress) as display:
        from gonie.experiments.compare import create_folder, resume_comparison, start_comparison
        from gonie.experiments.plan import PLAN, ComparisonRequest
        from gonie.experiments.sequence import SequenceComparison
        from gonie.training.folder import next_folder

        many = recipes if isinstance(recipes, Sequence) and not isinstance(recipes, str) else [recipes]
        names = tuple(map(recipe_path, many))
        if seeds < 1 or folds < 0:
            raise InputError(f"seeds must be at least 1 and folds at least 0: {seeds}, {folds}")
        if not names:
            raise InputError(
                "no recipe to compare", fix='Pass one, for example gonie.compare(["ner"], seeds=3)'
            )
        changes = {**changed_keys(set), **({"train.device": device} if device else {})}
        splits = {"train": train, "dev": dev, "test": test}
        given = {key: data for key, data in splits.items() if data is not None}
        name = Path(names[0]).name.removesuffix(".toml")
        folder = Path(out) if out is not None else next_folder(f"compare-{name}", mark=PLAN, resume=resume)
        own = DataFolder(folder, create=partial(create_folder, folder), mark=PLAN, resume=resume)
        first = {
            key: value[0] if isinstance(value, list) and value else value for key, value in changes.items()
        }
        with data_files(names[0], given, first, own) as found:
            sweeps = tuple(_sweep(key, changes.get(key, value)) for key, value in found.items())
            if resume:
                result = resume_comparison(
                    folder,
                    display,
                    recipes=names,
                    changes=sweeps,
                    seeds=seeds,
                    folds=folds,
                    in_sequence=in_sequence,
                    jobs=jobs,
                    keep=keep,
                )
            else:
                request = ComparisonRequest(names, sweeps, seeds, folds, in_sequence)
                result = start_comparison(request, folder, display, jobs=jobs, keep=keep)
        if result is None:
            raise KeyboardInterrupt(f"progress is saved in {folder}. Run the same call with resume=True.")
        if isinstance(result, SequenceComparison):
            return ComparedSequences(folder, result)
        return ComparedRecipes(folder, result)


def _sweep(key: str, value: Any) -> str:
    """Return ``key=a,b`` for a list of values, and ``key=a`` for another value."""
    values = value if isinstance(value, list) else [value]
    return f"{key}={','.join(setting('', each)[1:] for each in values)}"


class _Silent:
    """A display that shows nothing."""

    def __getattr__(self, name: str) -> Any:
        return lambda *values, **named: None


def _display(*, progress: bool) -> AbstractContextManager[Any]:
    if not progress:
        return nullcontext(_Silent())
    from gonie.cli.views.compare_display import CompareDisplay

    return CompareDisplay()
