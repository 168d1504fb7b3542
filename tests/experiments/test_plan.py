"""Tests compare.json and the recipes of the cells, from which a comparison is resumed."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from gonie.errors import ResumeError
from gonie.experiments.grid import load_cells, read_grid
from gonie.experiments.plan import CELLS, PLAN, ComparisonPlan, ComparisonRequest
from gonie.tasks.classification.recipe import TextRecipe
from gonie.tasks.recipe import load_recipe


def planned(toy: Path, *changes: str, seeds: int = 1) -> tuple[ComparisonPlan, list]:
    asked = ComparisonRequest((str(toy / "toy.toml"),), changes, seeds)
    recipes = load_cells(read_grid(asked.recipes, asked.changes))
    return ComparisonPlan.of(asked, recipes, keep=False), recipes


def test_there_is_a_run_for_every_cell_and_seed_in_order(toy: Path) -> None:
    plan, _ = planned(toy, "train.lr=0.1,0.2", "train.seed=5", seeds=2)
    assert [(run.cell, run.seed) for run in plan.runs] == [(0, 5), (0, 6), (1, 5), (1, 6)]
    assert plan.runs[2].folder == "2_lr=0.2_seed=5"


def test_a_written_plan_and_its_recipes_are_read_back(toy: Path, tmp_path: Path) -> None:
    plan, recipes = planned(toy, "train.lr=0.1,0.2", 'model.head.direct=[],["spelling"]', seeds=2)
    plan.write(tmp_path, recipes)
    again = ComparisonPlan.read(tmp_path)
    assert again == plan
    assert again.grid == read_grid(plan.request.recipes, plan.request.changes)
    for run in plan.runs:
        recipe = load_recipe(tmp_path / CELLS / run.folder / "recipe.toml")
        assert recipe.train.seed == run.seed
        assert recipe.train.lr == recipes[run.cell].train.lr
        assert recipe.model == recipes[run.cell].model


def test_folds_vary_fastest_and_are_in_the_recipes(text_toy: Path, tmp_path: Path) -> None:
    asked = ComparisonRequest(
        (str(text_toy / "texts.toml"),), ("train.lr=0.1,0.2", "data.test=none"), seeds=2, folds=3
    )
    recipes = load_cells(read_grid(asked.recipes, asked.changes), folds=3)
    plan = ComparisonPlan.of(asked, recipes, keep=False)
    assert len(plan.runs) == 2 * 2 * 3
    assert [(run.cell, run.seed, run.fold) for run in plan.runs[:4]] == [
        (0, 1, 1),
        (0, 1, 2),
        (0, 1, 3),
        (0, 2, 1),
    ]
    assert plan.runs[-1].folder == "2_lr=0.2_seed=2_fold=3"
    plan.write(tmp_path, recipes)
    assert ComparisonPlan.read(tmp_path) == plan
    for run in plan.runs:
        recipe = load_recipe(tmp_path / CELLS / run.folder / "recipe.toml")
        assert isinstance(recipe, TextRecipe)
        assert (recipe.data.folds, recipe.data.fold, recipe.train.seed) == (3, run.fold, run.seed)


def test_a_plan_of_an_earlier_version_can_be_read(toy: Path, tmp_path: Path) -> None:
    """A comparison that takes days must survive an update of gonie."""
    plan, recipes = planned(toy, "train.lr=0.1,0.2")
    plan.write(tmp_path, recipes)
    values = json.loads((tmp_path / PLAN).read_text("utf-8"))
    values["format"] = 1
    del values["asked"]["folds"]
    for run in values["runs"]:
        del run["fold"]
    (tmp_path / PLAN).write_text(json.dumps(values), "utf-8")
    assert ComparisonPlan.read(tmp_path) == plan


def test_the_plan_is_written_last(toy: Path, tmp_path: Path) -> None:
    """If a plan exists, so do all recipes; an interrupted write must not look like a comparison."""
    plan, recipes = planned(toy, "train.lr=0.1,0.2")
    (tmp_path / CELLS).mkdir()
    (tmp_path / CELLS / plan.runs[1].folder).write_text("in the way", "utf-8")
    with pytest.raises(OSError, match="exists"):
        plan.write(tmp_path, recipes)
    assert not (tmp_path / PLAN).exists()


def test_a_missing_plan_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ResumeError, match="without --resume"):
        ComparisonPlan.read(tmp_path)


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"format": 99}', '{"format": 1, "asked": {}}'])
def test_a_damaged_plan_is_refused(tmp_path: Path, text: str) -> None:
    (tmp_path / PLAN).write_text(text, "utf-8")
    with pytest.raises(ResumeError, match="another --out"):
        ComparisonPlan.read(tmp_path)


def test_the_plan_has_the_arguments_as_given(toy: Path, tmp_path: Path) -> None:
    plan, recipes = planned(toy, "train.lr=0.1,0.2")
    plan.write(tmp_path, recipes)
    values = json.loads((tmp_path / PLAN).read_text("utf-8"))
    assert values["asked"]["changes"] == ["train.lr=0.1,0.2"]
