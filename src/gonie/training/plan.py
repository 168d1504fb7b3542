"""What a comparison is to train, as compare.json keeps it: what was asked, and a run a cell and seed."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from gonie.data.files import atomic_write
from gonie.errors import ResumeError
from gonie.models.recipe import Recipe, write_recipe
from gonie.training.grid import Grid, read_grid

PLAN, CELLS, RECIPE = "compare.json", "cells", "recipe.toml"
FORMAT = 1


@dataclass(frozen=True)
class Asked:
    """What the user typed."""

    recipes: tuple[str, ...]
    changes: tuple[str, ...]
    seeds: int


@dataclass(frozen=True)
class PlannedRun:
    """One seed of one cell, and the name of its folder."""

    folder: str
    cell: int
    seed: int


@dataclass(frozen=True)
class Plan:
    """All that is to be trained, cell by cell, and whether the weights are kept."""

    asked: Asked
    keep: bool
    runs: tuple[PlannedRun, ...]

    @classmethod
    def of(cls, asked: Asked, recipes: Sequence[Recipe], *, keep: bool) -> Plan:
        """A run for every cell, whose recipes are given, and for as many seeds as are asked for."""
        grid = read_grid(asked.recipes, asked.changes)
        runs = (
            PlannedRun(grid.folder(cell, seed), cell, seed)
            for cell, recipe in enumerate(recipes)
            for seed in range(recipe.train.seed, recipe.train.seed + asked.seeds)
        )
        return cls(asked, keep, tuple(runs))

    @property
    def grid(self) -> Grid:
        """The axes and cells that were asked for."""
        return read_grid(self.asked.recipes, self.asked.changes)

    def write(self, folder: Path, recipes: Sequence[Recipe]) -> None:
        """Write the recipe of every run, then compare.json, which makes the folder a comparison.

        So there is none without all its recipes: it is gone on with by what lies there, whatever becomes of
        the recipes it was made from.
        """
        for run in self.runs:
            recipe = recipes[run.cell]
            seeded = recipe.train.model_copy(update={"seed": run.seed})
            place = folder / CELLS / run.folder
            place.mkdir(parents=True, exist_ok=True)
            atomic_write(place / RECIPE, write_recipe(recipe.model_copy(update={"train": seeded})))
        atomic_write(
            folder / PLAN, json.dumps({"format": FORMAT, **asdict(self)}, ensure_ascii=False, indent=1)
        )

    @classmethod
    def read(cls, folder: Path) -> Plan:
        """The plan in ``folder``."""
        path = folder / PLAN
        try:
            values = json.loads(path.read_bytes())
            if values["format"] != FORMAT:
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
    def _from_json(cls, values: dict[str, Any]) -> Plan:
        asked = values["asked"]
        return cls(
            asked=Asked(tuple(asked["recipes"]), tuple(asked["changes"]), int(asked["seeds"])),
            keep=bool(values["keep"]),
            runs=tuple(PlannedRun(**run) for run in values["runs"]),
        )
