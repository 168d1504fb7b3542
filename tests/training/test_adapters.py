"""Tests runs with adapters of every task: export, resuming, and a start with adapters."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
import torch

from gonie.tasks.recipe import load_recipe
from gonie.tasks.torch.trained import load_trained
from gonie.training.run import resume_run, start_run

TASKS = ("toy/toy.toml", "text_toy/texts.toml", "pair_toy/labels.toml")
CHARS = ("model.chars.kind=cnn", "model.chars.width=4", "model.chars.hidden=4")


class Silent:
    """A display that shows nothing, and fails after some steps if asked to."""

    def __init__(self, steps: int = 0) -> None:
        self._left = steps
        self.notes: list[str] = []

    def note(self, text: str) -> None:
        self.notes.append(text)

    def step(self, step: object) -> None:
        self._left -= 1
        if not self._left:
            raise RuntimeError("stopped")

    def __getattr__(self, name: str) -> Callable[..., None]:
        return lambda *given: None


@pytest.mark.parametrize(
    ("task", "kind"),
    [
        pytest.param(task, kind, marks=() if (task, kind) == (TASKS[0], "low-rank") else pytest.mark.long)
        for task in TASKS
        for kind in ("low-rank", "bottleneck", "both")
    ],
)
def test_a_run_with_adapters_is_exported_and_resumes_exactly(
    task: str, kind: str, request: pytest.FixtureRequest, tmp_path: Path
) -> None:
    folder, file = task.split("/")
    path = request.getfixturevalue(folder) / file
    start = tmp_path / "start"
    assert start_run(load_recipe(path, [*CHARS, "train.epochs=1"]), start, Silent()) is not None
    changes = [*CHARS, f"train.start={start}", f"model.adapter.kind={kind}", "train.epochs=2"]
    recipe = load_recipe(path, [*changes, "train.checkpoint_seconds=1e-9"])
    display = Silent()
    assert start_run(recipe, tmp_path / "whole", display) is not None
    assert any("its scores match the trained model's" in note for note in display.notes)
    with pytest.raises(RuntimeError, match="stopped"):
        start_run(recipe, tmp_path / "broken", Silent(steps=7))
    assert resume_run(tmp_path / "broken", Silent()) is not None
    for name in ("last.safetensors", "best.safetensors", "bundle/model.onnx"):
        whole, broken = (tmp_path / run / name for run in ("whole", "broken"))
        assert whole.read_bytes() == broken.read_bytes(), name
    before, after = (dict(load_trained(run).model.named_parameters()) for run in (start, tmp_path / "whole"))
    inner = {
        name.replace(".part.", ".").replace("encoder.encoder.", "encoder."): w for name, w in after.items()
    }
    frozen = [name for name in before if not name.startswith("heads.") and "weight_" in name]
    assert frozen
    assert all(torch.equal(before[name], inner[name]) for name in frozen)
    assert start_run(
        load_recipe(path, [*changes[:-3], f"train.start={tmp_path / 'whole'}", *changes[-2:]]),
        tmp_path / "next",
        Silent(),
    )
