"""Tests the speed of exported models: measured in turn, on the same texts."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from gonie.experiments import model_costs
from gonie.experiments.model_costs import ROUNDS, measure_costs
from gonie.tasks.load import load
from gonie.tasks.recipe import load_recipe
from gonie.training.run import start_run


class Slow:
    """A model that takes at least a hundredth of a second for each text."""

    def __init__(self, model: object) -> None:
        self._model = model

    def pipe(self, texts: list[str]) -> object:
        for text in texts:
            time.sleep(0.01)
            yield from self._model.pipe([text])  # type: ignore[attr-defined]


@pytest.fixture(scope="module")
def larger(toy: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Train a run with many more weights than ``toy_run``."""
    from conftest import Silence

    folder = tmp_path_factory.mktemp("larger") / "run"
    recipe = load_recipe(toy / "toy.toml", ["model.encoder.hidden=120", "train.epochs=1"])
    assert start_run(recipe, folder, Silence()) is not None
    return folder


def test_a_larger_model_has_larger_files(toy_run: Path, larger: Path) -> None:
    done: list[tuple[int, int]] = []
    texts = ["Anna lives in Seoul .", "It rains ."]
    found = measure_costs(
        {"small": toy_run, "large": larger / "bundle"}, texts, 8, lambda *each: done.append(each)
    )
    assert list(found) == ["small", "large"]
    assert found["large"].megabytes > 2 * found["small"].megabytes > 0  # type: ignore[operator]
    own = sum(path.stat().st_size for path in (toy_run / "bundle").iterdir())
    assert found["small"].megabytes == own / 1e6
    assert done == [(number, 2 * ROUNDS) for number in range(1, 2 * ROUNDS + 1)]


def test_speeds_are_those_of_the_given_tokens(toy_run: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A model that waits 10 ms for each of 4 texts with 20 tokens tags fewer than 20 tokens in 40 ms."""
    monkeypatch.setattr(model_costs, "load", lambda folder, threads: Slow(load(folder, threads=threads)))
    (cost,) = measure_costs({"slow": toy_run}, ["It rains ."] * 4, 20, lambda *each: None).values()
    assert cost.milliseconds is not None
    assert 10 < cost.milliseconds < 100
    assert cost.tokens_per_second is not None
    assert 20 / 0.4 < cost.tokens_per_second < 20 / 0.04
