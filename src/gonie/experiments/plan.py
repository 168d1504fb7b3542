"""The plan of a comparison in compare.json: the request, and one run per cell, seed and fold.

Format 1 had no folds. A comparison in this format resumes as one without folds.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from gonie.errors import ResumeError
from gonie.experiments.grid import Grid, read_grid
from gonie.system.files import atomic_write
from gonie.tasks.sections import CorpusRecipe
from gonie.tasks.written_recipe import write_recipe

PLAN, CELLS, RECIPE = "compare.json", "cells", "recipe.toml"
FORMAT, FORMATS = 2, (1, 2)
"""The format that is written, and the formats that can be read."""


@dataclass(frozen=True)
class ComparisonRequest:
    """The options of a comparison, as given by the user."""

    recipes: tuple[str, ...]
    changes: tuple[str, ...]
    seeds: int
    folds: int = 0
    """The number of parts of the training file, each the test file once. 0 uses the recipe's test file."""


@dataclass(frozen=True)
class PlannedRun:
    """One seed of one cell, on one fold (from 1) if there are folds, and the name of its folder."""

    folder: str
    cell: int
    seed: int
    fold: int = 0

    def recipe(self, cell: CorpusRecipe) -> CorpusRecipe:
        """Return the recipe of the cell with the seed and the fold of this run."""
        train = cell.train.model_copy(update={"seed": self.seed})
        data = cell.data.model_copy(update={"fold": self.fold} if self.fold else {})
        return cell.model_copy(update={"train": train, "data": data})


@dataclass(frozen=True)
class ComparisonPlan:
    """All runs, cell by cell, and whether their weights are kept."""

    request: ComparisonRequest
    keep: bool
    runs: tuple[PlannedRun, ...]

    @classmethod
    def of(cls, request: ComparisonRequest, recipes: Sequence[CorpusRecipe], *, keep: bool) -> ComparisonPlan:
        """Plan a run for every cell, seed and fold, given the recipes of the cells."""
        grid = read_grid(request.recipes, request.changes)
        folds = range(1, request.folds + 1) if request.folds else (0,)
        runs = (
            PlannedRun(grid.folder(cell, seed, fold), cell, seed, fold)
            for cell, recipe in enumerate(recipes)
            for seed in range(recipe.train.seed, recipe.train.seed + request.seeds)
            for fold in folds
        )
        return cls(request, keep, tuple(runs))

    @property
    def grid(self) -> Grid:
        """The requested axes and cells."""
        return read_grid(self.request.recipes, self.request.changes)

    def write(self, folder: Path, recipes: Sequence[CorpusRecipe]) -> None:
        """Write the recipe of every run, then compare.json, which makes the folder a comparison.

        So a comparison always has all its recipes. It can be resumed even if the original recipes change.
        """
        for run in self.runs:
            place = folder / CELLS / run.folder
            place.mkdir(parents=True, exist_ok=True)
            atomic_write(place / RECIPE, write_recipe(run.recipe(recipes[run.cell])))
        atomic_write(folder / PLAN, json.dumps(self._to_json(), ensure_ascii=False, indent=1))

    def _to_json(self) -> dict[str, Any]:
        runs = [asdict(run) for run in self.runs]
        return {"format": FORMAT, "asked": asdict(self.request), "keep": self.keep, "runs": runs}

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
            request=ComparisonRequest(recipes, changes, int(asked["seeds"]), int(asked.get("folds", 0))),
            keep=bool(values["keep"]),
            runs=tuple(PlannedRun(**run) for run in values["runs"]),
        )
