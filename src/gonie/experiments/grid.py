"""The grid of a comparison: swept keys, their values, and a cell for every combination.

This module handles text and order only. Recipes are read only to check every cell before training starts.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import product
from typing import cast

from gonie.errors import RecipeError
from gonie.experiments.line import ComparedRecipe, read_recipe
from gonie.experiments.values import split_values
from gonie.tasks.paths import missing_paths, with_absolute_paths
from gonie.tasks.recipe import load_recipe
from gonie.tasks.sections import CorpusRecipe, NoisyCorpusConfig
from gonie.tasks.start import resolve_recipe
from gonie.tasks.table import TASKS
from gonie.training.loss_terms.table import check_terms, with_absolute_terms

RECIPE = "recipe"
"""The key of the axis of recipes, if there is more than one."""

SIZE, ALL = "data.size", "all"
"""The key of the axis of training sizes, and the size of the whole training file."""

CURVE_EXAMPLES = 1000
"""The number of training sentences or texts scored after each epoch, unless the recipe sets it."""

LONGEST_NAME = 48


@dataclass(frozen=True)
class Axis:
    """A swept key and its values, as typed. ``label`` is its shortest unambiguous name."""

    key: str
    label: str
    values: tuple[str, ...]

    @cached_property
    def numbers(self) -> tuple[float, ...] | None:
        """The values as numbers, or None if any is not a number."""
        try:
            numbers = tuple(float(value) for value in self.values)
        except ValueError:
            return None
        return numbers if all(map(math.isfinite, numbers)) else None


@dataclass(frozen=True)
class GridCell:
    """One combination: a recipe, the changes to it, its value on each axis, and the name of the recipe."""

    recipe: str
    changes: tuple[str, ...]
    values: tuple[str, ...]
    name: str = ""


@dataclass(frozen=True)
class Grid:
    """The axes in the requested order, and every cell. The first axis varies slowest."""

    axes: tuple[Axis, ...]
    cells: tuple[GridCell, ...]

    def name(self, cell: GridCell) -> str:
        """Return ``hidden=8 lr=0.1``, or an empty string without axes."""
        named = zip(self.axes, cell.values, strict=True)
        return " ".join(f"{axis.label}={value}" for axis, value in named)

    def folder(self, number: int, seed: int, fold: int = 0, step: int = 0) -> str:
        """Return a short, readable and unique folder name for a run of this cell."""
        named = zip(self.axes, self.cells[number].values, strict=True)
        parts = [f"{axis.label}={_last_part(value)}" for axis, value in named]
        text = re.sub(r"[^\w.=+-]+", "-", "_".join(parts))[:LONGEST_NAME]
        place = str(number + 1).zfill(len(str(len(self.cells))))
        ends = (f"seed={seed}", f"fold={fold}" if fold else "", f"step={step}" if step else "")
        return "_".join(part for part in (place, text, *ends) if part)


def _last_part(value: str) -> str:
    """Return the last part of a path, without brackets and quotes."""
    return value.rstrip("/").rpartition("/")[2].strip("[]{}\"' ")


def read_grid(recipes: Sequence[str], changes: Sequence[str], sizes: Sequence[str] = ()) -> Grid:
    """Build the grid of ``recipes`` and ``key=a,b,c`` changes. A key with one value is set but not swept.

    With training ``sizes``, they are the last axis, also if there is only one.
    """
    problems: list[str] = []
    compared = [read_recipe(argument) for argument in recipes]
    swept: dict[str, tuple[str, ...]] = {RECIPE: tuple(each.name for each in compared)}
    for change in changes:
        key, equals, text = change.partition("=")
        key = key.strip()
        values = tuple(split_values(text))
        if not equals or not key:
            problems.append(f"--set {change}: not of the form KEY=A,B,C; for example train.lr=0.1,0.01")
        elif key in swept:
            problems.append(f"--set {change}: {key} is set twice; pass all values at once: {key}=a,b")
        elif len(values) > 1 and not all(values):
            problems.append(f"--set {change}: missing value next to a comma")
        swept.setdefault(key, values)
    if sizes and SIZE in swept:
        problems.append(f"--set {SIZE}: the sizes are those of --sizes; remove it")
    problems += [
        f"{each.name}: {key} is also swept by --set; remove one of them"
        for each in compared
        for key in each.keys
        if len(swept.get(key, ())) > 1 or (sizes and key == SIZE)
    ]
    problems += [
        f"{key}: {value} is given twice; remove one"
        for key, values in swept.items()
        for value in dict.fromkeys(values)
        if values.count(value) > 1
    ]
    if problems:
        raise RecipeError(problems, source="compare")
    if sizes:
        swept[SIZE] = tuple(sizes)
    axes = tuple(
        Axis(key, _label(key, swept), values)
        for key, values in swept.items()
        if len(values) > 1 or (sizes and key == SIZE)
    )
    return Grid(axes, tuple(_cells({each.name: each for each in compared}, swept, axes)))


def leave_out_each(recipes: Sequence[str], changes: Sequence[str]) -> str:
    """Return the change that leaves out each domain of the recipes' training files in turn."""
    single = [change for change in changes if len(split_values(change.partition("=")[2])) == 1]
    compared = [read_recipe(argument) for argument in recipes]
    names = [load_recipe(each.recipe, [*single, *each.changes]).data.train for each in compared]
    domains = list(names[0]) if isinstance(names[0], dict) else []
    if len(domains) < 2 or any(list(other) != domains for other in names):
        raise RecipeError(
            [
                "--leave-one-domain-out needs the same two or more named training files in every recipe; "
                "for example, --set data.train.web=web.conll --set data.train.news=news.conll"
            ],
            source="compare",
        )
    return f"data.leave_out={','.join(domains)}"


def _cells(
    compared: Mapping[str, ComparedRecipe], swept: dict[str, tuple[str, ...]], axes: tuple[Axis, ...]
) -> Iterator[GridCell]:
    for chosen in product(*swept.values()):
        values = dict(zip(swept, chosen, strict=True))
        own = compared[values[RECIPE]]
        common = (
            f"{key}={'none' if (key, value) == (SIZE, ALL) else value}"
            for key, value in values.items()
            if key != RECIPE and key not in own.keys
        )
        yield GridCell(
            own.recipe,
            (*common, *own.changes_at(values.get(SIZE))),
            tuple(values[axis.key] for axis in axes),
            own.name,
        )


def _label(key: str, keys: dict[str, tuple[str, ...]]) -> str:
    """Return the shortest ending of a dotted key that no other swept key ends with."""
    others = [other for other, values in keys.items() if other != key and len(values) > 1]
    parts = key.split(".")
    endings = (".".join(parts[-size:]) for size in range(1, len(parts)))
    return next((end for end in endings if not any(f".{o}".endswith(f".{end}") for o in others)), key)


def load_cells(
    grid: Grid, *, folds: int = 0, note: Callable[[str], None] = lambda text: None
) -> list[CorpusRecipe]:
    """Return the resolved recipe of every cell with absolute paths. All problems are reported together.

    By default a cell trains on one thread, so that many cells run in parallel, and scores some training
    examples, to show overfitting. The recipe may override both. With ``folds``, each recipe is that of the
    first fold. ``note`` receives what was resolved, each text once.
    """
    notes: dict[str, None] = {}
    recipes: list[CorpusRecipe] = []
    problems: dict[str, list[GridCell]] = {}
    for cell in grid.cells:
        try:
            recipe = _load_folded(cell, folds) if folds else load_recipe(cell.recipe, cell.changes)
            check_terms(recipe)
            found = missing_paths(recipe)
            if not found:
                absolute = with_absolute_terms(with_absolute_paths(recipe))
                resolved = resolve_recipe(absolute, notes.setdefault)
                recipes.append(_with_defaults(_without_output(cast("CorpusRecipe", resolved), notes)))
        except RecipeError as error:
            found = error.problems
        for problem in found:
            problems.setdefault(problem, []).append(cell)
    if problems:
        raise RecipeError([_with_cells(grid, *item) for item in problems.items()], source="compare")
    for text in notes:
        note(text)
    return recipes


def _load_folded(cell: GridCell, folds: int) -> CorpusRecipe:
    """Return the recipe of a cell with its training file split into folds, if its task supports them."""
    whole: CorpusRecipe = load_recipe(cell.recipe, cell.changes)
    if "folds" not in type(whole.data).model_fields:
        model = TASKS[whole.task].model
        raise RecipeError(
            [f"--folds does not apply to a {model} ({cell.recipe}); compare it without --folds"]
        )
    if any(change.partition("=")[0].strip() in ("data.folds", "data.fold") for change in cell.changes):
        raise RecipeError(["--folds trains on every fold; remove --set data.folds and data.fold"])
    folded: CorpusRecipe = load_recipe(cell.recipe, [*cell.changes, f"data.folds={folds}", "data.fold=1"])
    return folded


def _with_defaults(recipe: CorpusRecipe) -> CorpusRecipe:
    defaults = {"threads": 1, "score_train": CURVE_EXAMPLES}
    ours = {key: value for key, value in defaults.items() if key not in recipe.train.model_fields_set}
    return recipe.model_copy(update={"train": recipe.train.model_copy(update=ours)})


def _without_output(recipe: CorpusRecipe, notes: dict[str, None]) -> CorpusRecipe:
    """Return the recipe without the file of copies, which all runs would write."""
    data = recipe.data
    if not isinstance(data, NoisyCorpusConfig) or data.augment.file is None:
        return recipe
    notes.setdefault("data.augment.file has no effect: all runs of a comparison would write the same file")
    augment = data.augment.model_copy(update={"file": None})
    return recipe.model_copy(update={"data": data.model_copy(update={"augment": augment})})


def _with_cells(grid: Grid, problem: str, cells: list[GridCell]) -> str:
    """Return the problem and, unless every cell has it, the cells that have it."""
    if len(cells) == len(grid.cells):
        return problem
    name, more = grid.name(cells[0]), len(cells) - 1
    return f"{problem} ({name} and {more} more of {len(grid.cells)} cells)" if more else f"{problem} ({name})"
