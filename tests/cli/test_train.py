"""`gonie train` as it is typed: options reach the recipe, and the end says what to type next."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from gonie.models.recipe import load_recipe
from gonie.training import run as module
from gonie.training.run import Result

Gonie = Callable[..., Any]


def test_a_run_is_shown_and_left_in_its_folder(gonie: Gonie, toy: Path, tmp_path: Path) -> None:
    out = tmp_path / "run"
    outcome = gonie("train", toy / "toy.toml", "--out", out, "--set", "train.epochs=2", "--seed", "5")
    assert outcome.code == 0, outcome.err
    for words in (
        "train   80 sentences",
        "parameters, on cpu",
        "labels",
        "MiB used",
        "epoch   1  loss",
        "epoch   2  loss",
        "tokens/s",
        "dev F1",
        "left at most",
        "test F1",
        f'gonie tag {out} "your text"',
    ):
        assert words in outcome.out, words
    recipe = load_recipe(out / "recipe.toml")
    assert (recipe.train.epochs, recipe.train.seed) == (2, 5)
    assert (out / "report.html").is_file()


def test_options_are_short_for_keys(gonie: Gonie, toy: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[Any] = []

    def start(recipe: Any, folder: Path, display: Any) -> Result:
        seen.append((recipe, folder))
        return Result(folder, {}, 1, 0.0)

    monkeypatch.setattr(module, "start_run", start)
    monkeypatch.chdir(toy)
    outcome = gonie("train", "toy.toml", "--seed", "7", "--device", "cpu", "--set", "train.lr=0.5")
    assert outcome.code == 0
    recipe, folder = seen[0]
    assert (recipe.train.seed, recipe.train.device, recipe.train.lr) == (7, "cpu", 0.5)
    assert folder == Path("runs/toy")


def test_an_interrupted_run_ends_with_130(gonie: Gonie, toy: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Scripts tell by it that the run is not finished."""
    monkeypatch.setattr(module, "start_run", lambda *arguments: None)
    assert gonie("train", toy / "toy.toml").code == 130


def test_every_mistake_in_a_recipe_is_said_at_once(gonie: Gonie, toy: Path) -> None:
    outcome = gonie("train", toy / "toy.toml", "--set", "train.epoch=2", "--set", "train.lr=-1")
    assert outcome.refused("2 problems", "did you mean 'epochs'?", "train.lr")


def test_a_recipe_that_is_not_there_names_the_nearest(gonie: Gonie) -> None:
    assert gonie("train", "nr").refused("did you mean 'ner'?")


def test_a_finished_run_is_not_overwritten(gonie: Gonie, toy: Path, toy_run: Path) -> None:
    before = (toy_run / "best.safetensors").read_bytes()
    assert gonie("train", toy / "toy.toml", "--out", toy_run).refused("--resume", "--out")
    assert (toy_run / "best.safetensors").read_bytes() == before
