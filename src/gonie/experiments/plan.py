"""The plan of a comparison in compare.json: the request, and one run per cell, seed and fold, or step.

Format 1 had no folds, format 2 no steps, and format 3 no training sizes, existing models and warnings. A
comparison in these formats resumes as one without them.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from gonie.errors import ResumeError
from gonie.experiments.grid import SIZE, Grid, read_grid
from gonie.experiments.sequence import step_recipe
from gonie.system.files import atomic_write
from gonie.tasks.sections import CorpusRecipe
from gonie.tasks.written_recipe import write_recipe

PLAN, CELLS, RECIPE = "compare.json", "cells", "recipe.toml"
FORMAT, FORMATS = 4, (1, 2, 3, 4)
"""The format that is written, and the formats that can be read."""


@dataclass(frozen=True)
class ComparisonRequest:
    """The options of a comparison, as given by the user."""

    recipes: tuple[str, ...]
    changes: tuple[str, ...]
    seeds: int
    folds: int = 0
    """The number of parts of the training file, each the test file once. 0 uses the recipe's test file."""
    in_sequence: bool = False
    """Whether the named training files are learned one after another."""
    sizes: tuple[str, ...] = ()
    """Numbers of training examples, or ``all``, in ascending order."""
    models: tuple[str, ...] = ()
    """Models that exist already (``gonie.experiments.line``), which are drawn with those of all sizes."""

    @property
    def grid(self) -> Grid:
        """The requested axes and cells."""
        return read_grid(self.recipes, self.changes, self.sizes)


@dataclass(frozen=True)
class PlannedRun:
    """One seed of one cell, on one fold (from 1) if there are folds, and the name of its folder.

    In a sequence, it is step number ``step``, from 1, and starts from the run in the folder ``start``. The
    model of a run that is ``shipped`` is exported, to measure its speed and size.
    """

    folder: str
    cell: int
    seed: int
    fold: int = 0
    step: int = 0
    start: str = ""
    shipped: bool = False

    def recipe(self, cell: CorpusRecipe, cells: Path) -> CorpusRecipe:
        """Return the recipe of the cell with the seed and the fold or step of this run.

        ``cells`` is the folder of all runs.
        """
        train = cell.train.model_copy(update={"seed": self.seed})
        data = cell.data.model_copy(update={"fold": self.fold} if self.fold else {})
        own = cell.model_copy(update={"train": train, "data": data})
        start = (cells / self.start).absolute() if self.start else None
        return step_recipe(own, self.step, start) if self.step else own


@dataclass(frozen=True)
class ComparisonPlan:
    """All runs, cell by cell, and whether their weights are kept.

    ``warnings`` are those about the data and the settings, which were shown before training.
    """

    request: ComparisonRequest
    keep: bool
    runs: tuple[PlannedRun, ...]
    warnings: tuple[str, ...] = ()

    @classmethod
    def of(cls, request: ComparisonRequest, recipes: Sequence[CorpusRecipe], *, keep: bool) -> ComparisonPlan:
        """Plan a run for every cell, seed and fold, or step of a sequence, given the recipes of the cells."""
        grid = request.grid
        shipped = _largest(grid) if request.sizes else frozenset()
        folds = range(1, request.folds + 1) if request.folds else (0,)
        steps = range(1, len(recipes[0].data.files("train")) + 1) if request.in_sequence else (0,)
        runs = (
            PlannedRun(
                grid.folder(cell, seed, fold, step),
                cell,
                seed,
                fold,
                step,
                grid.folder(cell, seed, fold, step - 1) if step > 1 else "",
                cell in shipped and seed == recipe.train.seed,
            )
            for cell, recipe in enumerate(recipes)
            for seed in range(recipe.train.seed, recipe.train.seed + request.seeds)
            for fold in folds
            for step in steps
        )
        return cls(request, keep, tuple(runs))

    @property
    def chains(self) -> list[tuple[PlannedRun, ...]]:
        """The runs that are trained one after another: each alone, or the steps of a cell and seed."""
        chains: dict[str, list[PlannedRun]] = {}
        first = ""
        for run in self.runs:
            first = first if run.start else run.folder
            chains.setdefault(first, []).append(run)
        return [tuple(chain) for chain in chains.values()]

    @property
    def grid(self) -> Grid:
        """The requested axes and cells."""
        return self.request.grid

    def write(self, folder: Path, recipes: Sequence[CorpusRecipe]) -> None:
        """Write the recipe of every run, then compare.json, which makes the folder a comparison.

        So a comparison always has all its recipes. It can be resumed even if the original recipes change.
        """
        for run in self.runs:
            place = folder / CELLS / run.folder
            place.mkdir(parents=True, exist_ok=True)
            atomic_write(place / RECIPE, write_recipe(run.recipe(recipes[run.cell], folder / CELLS)))
        atomic_write(folder / PLAN, json.dumps(self._to_json(), ensure_ascii=False, indent=1))

    def _to_json(self) -> dict[str, Any]:
        runs = [asdict(run) for run in self.runs]
        return {
            "format": FORMAT,
            "asked": asdict(self.request),
            "keep": self.keep,
            "runs": runs,
            "warnings": list(self.warnings),
        }

    @classmethod
    def read(cls, folder: Path) -> ComparisonPlan:
        """Read the plan in ``folder``."""
        path = folder / PLAN
        try:
            values = json.loads(path.read_bytes())
            if values["format"] not in FORMATS:
                raise ValueError(f"unknown format {values['format']}")
            return cls._from_json(values)
        except OSError as error:
            raise ResumeError(
                f"{folder} is not a comparison: it has no {PLAN}. Start one without --resume."
            ) from error
        except (ValueError, TypeError, LookupError) as error:
            raise ResumeError(
                f"{path}: invalid comparison file ({error}). Start a new comparison with another --out."
            ) from error

    @classmethod
    def _from_json(cls, values: dict[str, Any]) -> ComparisonPlan:
        asked = values["asked"]
        recipes, changes = tuple(asked["recipes"]), tuple(asked["changes"])
        return cls(
            request=ComparisonRequest(
                recipes,
                changes,
                int(asked["seeds"]),
                int(asked.get("folds", 0)),
                bool(asked.get("in_sequence", False)),
                tuple(asked.get("sizes", ())),
                tuple(asked.get("models", ())),
            ),
            keep=bool(values["keep"]),
            runs=tuple(PlannedRun(**run) for run in values["runs"]),
            warnings=tuple(values.get("warnings", ())),
        )


def _largest(grid: Grid) -> frozenset[int]:
    """Return the cells of the largest training size."""
    at = next(number for number, axis in enumerate(grid.axes) if axis.key == SIZE)
    largest = grid.axes[at].values[-1]
    return frozenset(number for number, cell in enumerate(grid.cells) if cell.values[at] == largest)
