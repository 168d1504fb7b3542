"""What a comparison is to train, as compare.json keeps it: what was asked, and a run a cell, seed and fold.

Format 1 knew no folds; a comparison begun by it goes on as one without.
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
from gonie.tasks.recipe import write_recipe
from gonie.tasks.sections import CorpusRecipe

PLAN, CELLS, RECIPE = "compare.json", "cells", "recipe.toml"
FORMAT, FORMATS = 2, (1, 2)
"""The one that is written, and those that are read."""


@dataclass(frozen=True)
class Asked:
    """What the user typed."""

    recipes: tuple[str, ...]
    changes: tuple[str, ...]
    seeds: int
    folds: int = 0
    """Parts of the training file, each of which is the test file once; 0 for the recipe's own test file."""


@dataclass(frozen=True)
class PlannedRun:
    """One seed of one cell, on one fold where there are folds (from 1), and the name of its folder."""

    folder: str
    cell: int
    seed: int
    fold: int = 0

    def recipe(self, cell: CorpusRecipe) -> CorpusRecipe:
        """The recipe of its cell with its seed and its fold."""
        train = cell.train.model_copy(update={"seed": self.seed})
        data = cell.data.model_copy(update={"fold": self.fold} if self.fold else {})
        return cell.model_copy(update={"train": train, "data": data})


@dataclass(frozen=True)
class ComparisonPlan:
    """All that is to be trained, cell by cell, and whether the weights are kept."""

    asked: Asked
    keep: bool
    runs: tuple[PlannedRun, ...]

    @classmethod
    def of(cls, asked: Asked, recipes: Sequence[CorpusRecipe], *, keep: bool) -> ComparisonPlan:
        """A run for every cell, whose recipes are given, and for as many seeds and folds as are asked for."""
        grid = read_grid(asked.recipes, asked.changes)
        folds = range(1, asked.folds + 1) if asked.folds else (0,)
        runs = (
            PlannedRun(grid.folder(cell, seed, fold), cell, seed, fold)
            for cell, recipe in enumerate(recipes)
            for seed in range(recipe.train.seed, recipe.train.seed + asked.seeds)
            for fold in folds
        )
        return cls(asked, keep, tuple(runs))

    @property
    def grid(self) -> Grid:
        """The axes and cells that were asked for."""
        return read_grid(self.asked.recipes, self.asked.changes)

    def write(self, folder: Path, recipes: Sequence[CorpusRecipe]) -> None:
        """Write the recipe of every run, then compare.json, which makes the folder a comparison.

        So there is none without all its recipes: it is gone on with by what lies there, whatever becomes of
        the recipes it was made from.
        """
        for run in self.runs:
            place = folder / CELLS / run.folder
            place.mkdir(parents=True, exist_ok=True)
            atomic_write(place / RECIPE, write_recipe(run.recipe(recipes[run.cell])))
        atomic_write(
            folder / PLAN, json.dumps({"format": FORMAT, **asdict(self)}, ensure_ascii=False, indent=1)
        )

    @classmethod
    def read(cls, folder: Path) -> ComparisonPlan:
        """The plan in ``folder``."""
        path = folder / PLAN
        try:
            values = json.loads(path.read_bytes())
            if values["format"] not in FORMATS:
                raise ValueError(f"format {values['format']}, where this gonie knows {FORMAT}")
            return cls._from_json(values)
        except OSError as error:
            raise ResumeError(
                f"{folder}: expected a comparison with {PLAN}, found none. Start it without --resume."
            ) from error
        except (ValueError, TypeError, LookupError) as error:
            raise ResumeError(
                f"{path}: expected what a comparison began with, got a damaged file ({error}). "
                "Start a new one with another --out."
            ) from error

    @classmethod
    def _from_json(cls, values: dict[str, Any]) -> ComparisonPlan:
        asked = values["asked"]
        recipes, changes = tuple(asked["recipes"]), tuple(asked["changes"])
        return cls(
            asked=Asked(recipes, changes, int(asked["seeds"]), int(asked.get("folds", 0))),
            keep=bool(values["keep"]),
            runs=tuple(PlannedRun(**run) for run in values["runs"]),
        )
