"""Tests baselines and variants, which show whether a score of 75 is high."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from gonie.errors import RecipeError
from gonie.tasks.recipe import load_recipe
from gonie.tasks.tagging.recipe import TagRecipe
from gonie.training.loop import Step
from gonie.training.run import resume_run, start_run
from gonie.training.variants import build_variants

VARIANTS = """
[variants."all types"]
"data.types" = []
"model.head.kind" = "softmax"
"""


@pytest.fixture
def recipe(toy: Path, tmp_path: Path) -> TagRecipe:
    """Load a recipe that learns people in the toy corpus, with a variant that learns all types."""
    path = tmp_path / "person.toml"
    path.write_text((toy / "toy.toml").read_text("utf-8") + VARIANTS, "utf-8")
    return load_recipe(
        path,
        [
            "data.model_scheme=IO",
            'data.types=["PER"]',
            "model.encoder.kind=window",
            "model.head.kind=sigmoid",
            "model.dropout.input=0",
            "model.dropout.output=0",
            "train.optimizer=per-window",
            "train.epochs=3",
            "train.lr=0.1",
            "train.baselines=true",
        ],
    )


def test_a_run_reports_its_baselines_and_its_variants(
    recipe: TagRecipe, tmp_path: Path, silence: Any
) -> None:
    result = start_run(recipe, tmp_path / "run", silence)
    assert result is not None
    assert list(result.baselines) == [
        "every capitalised word",
        "most frequent label of each word",
        "all types",
    ]
    assert result.baselines["every capitalised word"].startswith("dev F1 ")
    assert "PER" in result.baselines["all types"]
    assert "LOC" in result.baselines["all types"]
    written = json.loads((tmp_path / "run" / "baselines.json").read_text("utf-8"))
    assert set(written) == set(result.baselines)
    assert set(written["all types"]) == {"dev", "test"}
    assert set(written["all types"]["test"]["types"]) == {"PER", "LOC"}
    assert set(written["most frequent label of each word"]["test"]["types"]) == {"PER"}
    assert (tmp_path / "run" / "variants" / "all-types" / "bundle").is_dir()
    assert "most frequent label of each word" in (tmp_path / "run" / "report.html").read_text("utf-8")


class Dies:
    """A display that raises ``MemoryError`` at a step."""

    def __init__(self, silence: Any, steps: int) -> None:
        self._silence, self._left = silence, steps

    def __getattr__(self, name: str) -> Any:
        return getattr(self._silence, name)

    def step(self, step: Step) -> None:
        self._left -= 1
        if self._left == 0:
            raise MemoryError


def test_a_run_stopped_in_a_variant_resumes_there(recipe: TagRecipe, tmp_path: Path, silence: Any) -> None:
    whole = start_run(recipe, tmp_path / "whole", silence)
    assert whole is not None
    steps = sum(isinstance(event, Step) for event in silence.events)
    with pytest.raises(MemoryError):
        start_run(recipe, tmp_path / "broken", Dies(silence, steps - 5))
    assert (tmp_path / "broken" / "variants" / "all-types" / "recipe.toml").is_file()
    resumed = resume_run(tmp_path / "broken", silence)
    assert resumed is not None
    assert resumed.baselines == whole.baselines
    for name in ("baselines.json", "variants/all-types/best.safetensors"):
        assert (tmp_path / "broken" / name).read_bytes() == (tmp_path / "whole" / name).read_bytes()


@pytest.mark.parametrize(
    ("names", "message"),
    [
        (("H 9", "H-9"), "'H 9' and 'H-9' would share the folder H-9"),
        (("x" * 300 + "a", "x" * 300 + "b"), "would share the folder"),
        (("!!",), "invalid name '!!'"),
        (("most frequent label of each word",), "the name of a baseline"),
    ],
)
def test_invalid_or_colliding_variant_names_are_refused_before_training(
    names: tuple[str, ...], message: str, recipe: TagRecipe, tmp_path: Path, silence: Any
) -> None:
    """Otherwise the second variant would fail only after everything else is trained."""
    odd = recipe.model_copy(update={"variants": {name: {"train.epochs": 1} for name in names}})
    with pytest.raises(RecipeError, match=message):
        start_run(odd, tmp_path / "run", silence)
    assert not (tmp_path / "run").exists()


def test_a_variant_leaves_the_copies_of_its_run_as_they_are(recipe: TagRecipe, tmp_path: Path) -> None:
    data = recipe.data
    augment = data.augment.model_copy(update={"copies": 1, "file": str(tmp_path / "copies.conll")})
    copied = recipe.model_copy(update={"data": data.model_copy(update={"augment": augment})})
    (variant,) = build_variants(copied).values()
    assert (variant.data.augment.copies, variant.data.augment.file) == (1, None)  # type: ignore[attr-defined]


class Stops(Dies):
    """A display that raises ``KeyboardInterrupt`` at a note."""

    def __init__(self, silence: Any, at: str) -> None:
        super().__init__(silence, 0)
        self._at = at

    def note(self, text: str) -> None:
        if text.startswith(self._at):
            raise KeyboardInterrupt


@pytest.mark.parametrize("at", ["exported", "scoring 20 test", "scoring baselines", "training variant"])
def test_ctrl_c_after_training_leaves_a_resumable_run(
    at: str, recipe: TagRecipe, tmp_path: Path, silence: Any
) -> None:
    """The display is told about the interruption, so that users learn that nothing is lost."""
    assert start_run(recipe, tmp_path / "run", Stops(silence, at)) is None
    assert silence.events[-1] == tmp_path / "run"
    result = resume_run(tmp_path / "run", silence)
    assert result is not None
    assert list(result.baselines)[-1] == "all types"


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"model.head.knd": "crf"}, r"variant 'odd'.*model\.head\.knd: unknown key; did you mean 'kind'"),
        ({"train.epochs": "many"}, r"train\.epochs: must be a whole number"),
        ({"task.kind.x": 1}, r"unknown key: task\.kind\.x"),
    ],
)
def test_invalid_settings_of_a_variant_are_refused_before_training(
    changes: dict[str, object], message: str, recipe: TagRecipe, tmp_path: Path, silence: Any
) -> None:
    odd = recipe.model_copy(update={"variants": {"odd": changes}})
    with pytest.raises(RecipeError, match=f"(?s){message}"):
        build_variants(odd)
    with pytest.raises(RecipeError):
        start_run(odd, tmp_path / "run", silence)
    assert not (tmp_path / "run").exists()
