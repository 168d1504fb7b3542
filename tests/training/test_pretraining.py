"""Tests pretraining runs: the files they write, resuming, and starting from another model."""

from __future__ import annotations

import gzip
import json
import lzma
import math
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
import torch

from gonie.errors import GonieError, OutputError, RecipeError, ResumeError
from gonie.tasks.language_model.torch.folder import load_bilm
from gonie.tasks.language_model.torch.start import describe_start, with_shape_of_start
from gonie.tasks.paths import with_absolute_paths
from gonie.tasks.recipe import load_recipe
from gonie.tasks.torch.checkpoint import read_tensors
from gonie.training.loop import Epoch, Step
from gonie.training.run import RunResult, Summary, resume_run, start_run

PATIENCE = 300
"""Seconds before a child process is considered to hang; a busy machine is slow."""


class Quiet:
    """A display that records what it receives and can stop the run after some steps."""

    def __init__(self, *, stop_after: int = 0) -> None:
        self.notes: list[str] = []
        self.epochs: list[Epoch] = []
        self.steps = self.batches = 0
        self.summary: Summary | None = None
        self._stop_after = stop_after

    def note(self, text: str) -> None:
        self.notes.append(text)

    def advance(self, advance: object) -> None:
        pass

    def begin(self, summary: Summary) -> None:
        self.summary = summary

    def step(self, step: Step) -> None:
        self.steps += 1
        self.batches = step.batches
        if self.steps == self._stop_after:
            os.kill(os.getpid(), signal.SIGINT)

    def epoch(self, epoch: Epoch) -> None:
        self.epochs.append(epoch)

    def interrupted(self, folder: Path) -> None:
        self.notes.append("interrupted")

    def finished(self, result: RunResult) -> None:
        self.notes.append("finished")


def weights(run: Path) -> dict[str, torch.Tensor]:
    return read_tensors(run / "best.safetensors")[0]


def same(one: Path, other: Path) -> bool:
    first, second = weights(one), weights(other)
    return first.keys() == second.keys() and all(torch.equal(first[name], second[name]) for name in first)


def test_a_run_writes_the_model_and_its_description(toy_bilm: Path, prose: Path) -> None:
    assert {path.name for path in toy_bilm.iterdir()} == {
        *("recipe.toml", "text", "metrics.jsonl", "last.safetensors", "best.safetensors", "cost.json", "bilm")
    }
    saved = load_bilm(toy_bilm, predictions=True)
    assert (saved.language, saved.unit) == ("en", "word")
    assert saved.about["words"] > 1000
    assert saved.about["vocabulary"] == len(saved.predictions.words) <= 43  # type: ignore[union-attr]
    records = [json.loads(line) for line in (toy_bilm / "metrics.jsonl").read_text("utf-8").splitlines()]
    best = min(records, key=lambda record: record["perplexity"]["ahead"] * record["perplexity"]["back"])
    assert saved.about["perplexity"] == best["perplexity"]
    assert best["perplexity"]["ahead"] < 12, "the toy language has some twenty words, and rules"


def test_a_run_resumed_after_ctrl_c_gives_the_same_weights(
    toy_bilm: Path, prose: Path, tmp_path: Path
) -> None:
    stopped = Quiet(stop_after=40)
    assert (
        start_run(load_recipe(prose / "pretrain.toml", command="pretrain"), tmp_path / "run", stopped) is None
    )
    assert stopped.notes[-1] == "interrupted"
    resumed = Quiet()
    assert resume_run(tmp_path / "run", resumed, command="pretrain") is not None
    assert stopped.steps + resumed.steps == 3 * resumed.batches
    assert same(tmp_path / "run", toy_bilm), "what rows carry, and where they are, is in the checkpoint"


@pytest.mark.long
def test_a_run_resumed_after_a_kill_gives_the_same_weights(
    toy_bilm: Path, prose: Path, tmp_path: Path
) -> None:
    out = tmp_path / "run"
    recipe = tmp_path / "often.toml"
    often = "checkpoint_seconds = 0.05\n"
    recipe.write_text((prose / "pretrain.toml").read_text("utf-8") + often, "utf-8")
    command = [sys.executable, "-m", "gonie", "pretrain", str(recipe), "--out", str(out)]
    child = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    deadline = time.monotonic() + PATIENCE
    while not (out / "last.safetensors").exists() and child.poll() is None and time.monotonic() < deadline:
        time.sleep(0.01)
    child.kill()
    child.wait()
    assert resume_run(out, Quiet(), command="pretrain") is not None
    assert same(out, toy_bilm)


def test_starting_from_a_model_keeps_its_shape_and_its_words(
    toy_bilm: Path, prose: Path, tmp_path: Path
) -> None:
    start = f'model.start="{toy_bilm}"'
    recipe = load_recipe(
        prose / "pretrain.toml", [start, "model.width=9", "train.epochs=1"], command="pretrain"
    )
    display = Quiet()
    assert start_run(recipe, tmp_path / "run", display) is not None
    before, after = (load_bilm(run, predictions=True) for run in (toy_bilm, tmp_path / "run"))
    assert after.shape == before.shape
    assert list(after.predictions.words) == list(before.predictions.words)  # type: ignore[union-attr]
    first = json.loads((toy_bilm / "metrics.jsonl").read_text("utf-8").splitlines()[0])
    assert display.epochs[0].details["perplexity"]["ahead"] < first["perplexity"]["ahead"], (
        "it starts where that one ended"
    )


def test_training_continues_from_a_shipped_model_by_its_name(prose: Path) -> None:
    recipe = load_recipe(prose / "pretrain.toml", ["model.start=en"], command="pretrain")
    resolved = with_shape_of_start(with_absolute_paths(recipe))
    assert resolved.model.start == "en"
    assert resolved.model.bilm == load_bilm("en").shape.model_copy(update={"dropout": recipe.model.dropout})
    assert describe_start(resolved.model)["start"]["model"] == "en"


def test_a_model_records_the_model_it_started_from(toy_bilm: Path, prose: Path, tmp_path: Path) -> None:
    """The licence and the biases of that model apply to the new one too."""
    recipe = load_recipe(
        prose / "pretrain.toml", [f'model.start="{toy_bilm}"', "train.epochs=1"], command="pretrain"
    )
    assert start_run(recipe, tmp_path / "run", Quiet()) is not None
    before, after = (load_bilm(run).about for run in (toy_bilm, tmp_path / "run"))
    assert after["start"] == {"model": toy_bilm.name, **before}
    assert "start" not in before


@pytest.mark.parametrize("few", [True, False])
def test_a_text_too_small_for_the_number_of_rows_gets_a_note(few: bool, prose: Path, tmp_path: Path) -> None:
    """Otherwise the run could consist only of warmup steps, and the model would learn nothing."""
    warmup = f"train.warmup={200 if few else 0}"
    recipe = load_recipe(prose / "pretrain.toml", [warmup, "train.epochs=1"], command="pretrain")
    display = Quiet()
    start_run(recipe, tmp_path / "run", display)
    told = [note for note in display.notes if "at least 1,000 are recommended" in note]
    assert len(told) == few
    if few:
        assert told[0].startswith(f"only {display.steps:,} training steps")
        assert "--set train.rows=" in told[0]


def test_starting_from_a_model_can_use_the_vocabulary_of_the_new_text(
    toy_bilm: Path, prose: Path, tmp_path: Path
) -> None:
    text = tmp_path / "new.txt"
    text.write_text("Zebras graze quietly. Anna grazes too.\n" * 60, "utf-8")
    changes = [f'data.text=["{text}"]', "data.heldout=none", f'model.start="{toy_bilm}"']
    recipe = load_recipe(
        prose / "pretrain.toml", [*changes, 'model.softmax.words="own"', "train.epochs=1"], command="pretrain"
    )
    assert start_run(recipe, tmp_path / "run", Quiet()) is not None
    words = load_bilm(tmp_path / "run", predictions=True).predictions.words  # type: ignore[union-attr]
    assert "Zebras" in words
    assert "Seoul" not in words


def without_softmax(bilm: Path, target: Path) -> Path:
    """Copy the model without its softmax, which only training needs."""
    target.mkdir()
    for name in ("bilm.json", "weights.safetensors"):
        shutil.copy(bilm / "bilm" / name, target / name)
    return target


def test_the_rest_of_the_model_is_frozen_while_a_new_softmax_settles(
    toy_bilm: Path, prose: Path, tmp_path: Path
) -> None:
    """Otherwise the gradients of an untrained softmax would destroy the pretrained weights."""
    start = without_softmax(toy_bilm, tmp_path / "start")
    changes = [f'model.start="{start}"', "train.epochs=1", "train.settle=0.999", "model.storage=float32"]
    recipe = load_recipe(prose / "pretrain.toml", changes, command="pretrain")
    display = Quiet()
    assert start_run(recipe, tmp_path / "run", display) is not None
    before, after = (load_bilm(folder).bilm.state_dict() for folder in (start, tmp_path / "run"))
    assert all(torch.equal(before[name], after[name]) for name in before)
    size = len(load_bilm(tmp_path / "run", predictions=True).predictions.words)  # type: ignore[union-attr]
    assert -display.epochs[0].score < math.log(size / 2), "the softmax has learned"


@pytest.mark.parametrize(("kept", "settle"), [(True, None), (False, 0.2)])
def test_only_a_new_softmax_gets_time_to_settle(
    toy_bilm: Path, prose: Path, tmp_path: Path, kept: bool, settle: float | None
) -> None:
    start = toy_bilm if kept else without_softmax(toy_bilm, tmp_path / "start")
    recipe = load_recipe(
        prose / "pretrain.toml", [f'model.start="{start}"', "train.epochs=1"], command="pretrain"
    )
    assert start_run(recipe, tmp_path / "run", Quiet()) is not None
    assert load_recipe(tmp_path / "run" / "recipe.toml", command="pretrain").train.settle == settle


def test_an_infinite_loss_stops_training_and_is_not_saved(prose: Path, tmp_path: Path) -> None:
    """It stops within the epoch, which may take hours, and the last good checkpoint stays."""
    often = ["train.checkpoint_seconds=0.0001", "train.lr=1e30", "train.warmup=0", "train.clip=0"]
    display = Quiet()
    with pytest.raises(GonieError, match="the loss became"):
        start_run(load_recipe(prose / "pretrain.toml", often, command="pretrain"), tmp_path / "run", display)
    assert 0 < display.steps < display.batches
    state, _ = read_tensors(tmp_path / "run" / "last.safetensors")
    assert torch.isfinite(state["loss"])


def test_resuming_with_changed_settings_is_refused(toy_bilm: Path) -> None:
    with pytest.raises(ResumeError, match=r"train\.lr is .*, not 0\.5"):
        resume_run(toy_bilm, Quiet(), ["train.lr=0.5"], command="pretrain")


def test_an_existing_run_is_not_overwritten(toy_bilm: Path, prose: Path) -> None:
    with pytest.raises(OutputError, match="already contains a run"):
        start_run(load_recipe(prose / "pretrain.toml", command="pretrain"), toy_bilm, Quiet())


def test_cached_tokens_are_used_by_other_runs(prose: Path, tmp_path: Path) -> None:
    changes = [f"data.cache={tmp_path / 'tokens'}", "train.epochs=1"]
    recipe = load_recipe(prose / "pretrain.toml", changes, command="pretrain")
    assert start_run(recipe, tmp_path / "one", Quiet()) is not None
    again = Quiet()
    assert start_run(recipe, tmp_path / "two", again) is not None
    assert sum("already tokenised" in note for note in again.notes) == 2
    assert not (tmp_path / "two" / "text").exists()


@pytest.mark.parametrize("suffix", [".gz", pytest.param(".xz", marks=pytest.mark.long)])
def test_compressed_text_gives_the_same_model(
    suffix: str, prose: Path, toy_bilm: Path, tmp_path: Path
) -> None:
    opened = {".gz": gzip.open, ".xz": lzma.open}[suffix]
    path = tmp_path / f"text.txt{suffix}"
    with opened(path, "wt", encoding="utf-8") as file:  # type: ignore[operator]
        file.write((prose / "text.txt").read_text("utf-8"))
    recipe = load_recipe(prose / "pretrain.toml", [f'data.text=["{path}"]'], command="pretrain")
    assert start_run(recipe, tmp_path / "run", Quiet()) is not None
    assert same(tmp_path / "run", toy_bilm)


@pytest.mark.long
def test_a_line_of_ten_megabytes_is_split(prose: Path, tmp_path: Path) -> None:
    long = tmp_path / "long.txt"
    text = (prose / "text.txt").read_text("utf-8").replace("\n", " ")
    long.write_text((text * (10_000_000 // len(text) + 1))[:10_000_000], "utf-8")
    changes = [f'data.text=["{long}"]', "train.rows=4000", "train.steps=400", "train.epochs=1"]
    display = Quiet(stop_after=1)
    recipe = load_recipe(prose / "pretrain.toml", changes, command="pretrain")
    assert start_run(recipe, tmp_path / "run", display) is None
    assert any("longer than 100,000 characters" in note for note in display.notes)
    assert display.summary is not None
    words = int(dict(display.summary.rows)["text"].split(" words")[0].replace(",", ""))
    assert words == pytest.approx(len(text.split()) * 10_000_000 / len(text), rel=0.3)


def test_text_in_another_language_than_the_start_model_is_refused(
    toy_bilm: Path, prose: Path, tmp_path: Path
) -> None:
    changes = [f'model.start="{toy_bilm}"', "data.language=ko"]
    with pytest.raises(RecipeError, match=r"data\.language: expected en"):
        start_run(
            load_recipe(prose / "pretrain.toml", changes, command="pretrain"), tmp_path / "run", Quiet()
        )
    assert not (tmp_path / "run").exists()
