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

from gonie.api.models import loaded
from gonie.api.rows import Data
from gonie.api.run_data import DataFolder, data_files
from gonie.api.settings import changed_keys, python_messages, recipe_path, setting, settings
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

    @property
    def sizes(self) -> dict[str, Any] | None:
        """With training sizes, the content of ``sizes.json``: the ``verdict`` in words, and the ``lines``."""
        path = self.folder / "sizes.json"
        found: dict[str, Any] | None = json.loads(path.read_bytes()) if path.is_file() else None
        return found

    def to_dict(self) -> dict[str, Any]:
        """Return the content of ``results.json``."""
        return self.comparison.to_json()

    def to_json(self) -> str:
        """Return ``to_dict`` as JSON."""
        return json.dumps(self.to_dict(), ensure_ascii=False)

    def __repr__(self) -> str:
        return f"ComparedRecipes({str(self.folder)!r}): " + "; ".join(self._summary())

    def _summary(self) -> list[str]:
        sizes = self.sizes if self.comparison.sizes else None
        return [*self.comparison.summary(), *([sizes["verdict"]] if sizes else [])]

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
        notes = element("p", "; ".join(self._summary()))
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


Recipe = str | PathLike[str]
Compared = Recipe | tuple[Recipe, Mapping[str, Any]] | Any
"""A recipe, a recipe with settings of its own, or a trained model."""


def compare(
    recipes: Recipe | Sequence[Recipe] | Mapping[str, Compared],
    train: Data = None,
    dev: Data = None,
    test: Data = None,
    *,
    set: Mapping[str, Any] | None = None,
    seeds: int = 1,
    folds: int = 0,
    in_sequence: bool = False,
    sizes: Sequence[int | str] = (),
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
    files of ``data.train`` one after another, and returns how much is forgotten.

    ``sizes`` are numbers of training examples, such as ``[20, 100, "all"]``: the page ``sizes.html`` in the
    folder shows from which size on which model is best. A mapping gives each recipe a name and settings of
    its own: ``{"plain": "ner", "small": ("ner", {"model.encoder.hidden": 50})}``. With sizes, models that are
    already trained may be among its values, as objects or folders.

    ``jobs`` is the number of combinations that are trained in parallel, each in a new process. In a script,
    more than one requires ``if __name__ == "__main__":`` around the call, because new processes import the
    script. An interrupted comparison raises ``KeyboardInterrupt``; ``resume=True`` continues it.
    """
    with python_messages(recipe=True), training_process(), _display(progress=progress) as display:
        from gonie.experiments.compare import create_folder, resume_comparison, start_comparison
        from gonie.experiments.line import read_recipe, split_models
        from gonie.experiments.plan import PLAN, ComparisonRequest
        from gonie.experiments.sequence import SequenceComparison
        from gonie.experiments.sizes import read_sizes, refuse_models_alone
        from gonie.training.folder import next_folder

        names, models = split_models(_arguments(recipes))
        wanted = read_sizes(",".join(map(str, sizes))) if sizes else ()
        if not names and not resume:
            refuse_models_alone(models)
        if seeds < 1 or folds < 0:
            raise InputError(f"seeds must be at least 1 and folds at least 0: {seeds}, {folds}")
        if not names:
            raise InputError(
                "no recipe to compare", fix='Pass one, for example gonie.compare(["ner"], seeds=3)'
            )
        changes = {**changed_keys(set), **({"train.device": device} if device else {})}
        splits = {"train": train, "dev": dev, "test": test}
        given = {key: data for key, data in splits.items() if data is not None}
        recipe = read_recipe(names[0]).recipe
        name = Path(recipe).name.removesuffix(".toml")
        folder = Path(out) if out is not None else next_folder(f"compare-{name}", mark=PLAN, resume=resume)
        own = DataFolder(folder, create=partial(create_folder, folder), mark=PLAN, resume=resume)
        first = {
            key: value[0] if isinstance(value, list) and value else value for key, value in changes.items()
        }
        with data_files(recipe, given, first, own) as found:
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
                    sizes=wanted,
                    models=models,
                    jobs=jobs,
                    keep=keep,
                )
            else:
                request = ComparisonRequest(names, sweeps, seeds, folds, in_sequence, wanted, models)
                result = start_comparison(request, folder, display, jobs=jobs, keep=keep)
        if result is None:
            raise KeyboardInterrupt(f"progress is saved in {folder}. Run the same call with resume=True.")
        if isinstance(result, SequenceComparison):
            return ComparedSequences(folder, result)
        return ComparedRecipes(folder, result)


def _arguments(recipes: Any) -> list[str]:
    """Return what is compared as arguments of the command line."""
    if isinstance(recipes, Mapping):
        return [_argument(str(name), value) for name, value in recipes.items()]
    many = recipes if isinstance(recipes, Sequence) and not isinstance(recipes, str) else [recipes]
    return [recipe_path(each) for each in many]


def _argument(name: str, value: Compared) -> str:
    """Return a named recipe or model as ``NAME=RECIPE:KEY=VALUE,…``."""
    if not name.strip() or set(name) & {"=", ":", "/", "\\"}:
        raise InputError(f"invalid name of a recipe: {name!r}", fix="Use a name without = : / and \\")
    if isinstance(value, tuple) and len(value) == 2:
        recipe, changes = value
        return f"{name}={recipe_path(recipe)}:{','.join(settings(changed_keys(changes)))}"
    if isinstance(value, str | PathLike):
        return f"{name}={recipe_path(value)}"
    return f"{name}={loaded(value)[1]}"


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
