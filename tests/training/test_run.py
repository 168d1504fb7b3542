"""Tests whole runs: the files they write, folder names, and failed starts that leave no folder."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path
from typing import Any

import pytest
import torch

from gonie import load
from gonie.errors import GonieError, RecipeError
from gonie.tasks.recipe import load_recipe
from gonie.tasks.torch.checkpoint import read_tensors
from gonie.training.loop import Epoch, Step
from gonie.training.run import RunResult, Summary, default_folder, resume_run, start_run


def test_a_run_folder_has_the_documented_files(toy_run: Path) -> None:
    names = {path.name for path in toy_run.iterdir()}
    assert names == {
        "recipe.toml",
        "encoding.json",
        "seen.json",
        "metrics.jsonl",
        "last.safetensors",
        "best.safetensors",
        "network.json",
        "bundle",
        "evaluation.json",
        "report.html",
        "cost.json",
    }


def test_the_scores_are_those_of_the_exported_model(toy_run: Path) -> None:
    scores = json.loads((toy_run / "evaluation.json").read_text("utf-8"))
    assert set(scores) == {"dev", "test"}
    assert scores["test"]["f1"] == 1.0
    assert scores["test"]["novelty"] is not None, "recall is split by what training had seen"
    metrics = [json.loads(line) for line in (toy_run / "metrics.jsonl").read_text("utf-8").splitlines()]
    assert [record["epoch"] for record in metrics] == list(range(1, 13))
    assert max(record["score"] for record in metrics) == scores["dev"]["f1"]
    assert {record["metric"] for record in metrics} == {"F1"}


def test_the_report_is_one_file_that_loads_nothing_external(toy_run: Path) -> None:
    page = (toy_run / "report.html").read_text("utf-8")
    assert not re.findall(r"(?:src|href)\s*=\s*[\"'](?!#)", page)
    assert not re.search(r"https?://(?!www\.w3\.org/)", page)
    assert "<svg" in page, "the training curve"


def test_a_run_folder_can_be_loaded_and_tags(toy_run: Path) -> None:
    document = load(toy_run)("we met Cleo Lee and Anna .")
    assert [(span.text, span.label) for span in document.spans] == [("Cleo Lee", "PER"), ("Anna", "PER")]


def test_the_recipe_in_the_folder_reproduces_the_model(toy_run: Path, tmp_path: Path, silence: Any) -> None:
    result = start_run(load_recipe(toy_run / "recipe.toml"), tmp_path / "again", silence)
    assert result is not None
    first, _ = read_tensors(toy_run / "best.safetensors")
    second, _ = read_tensors(tmp_path / "again/best.safetensors")
    assert all(torch.equal(first[name], second[name]) for name in first)
    scores = [e.score for e in silence.events if isinstance(e, Epoch)]
    assert result.best_epoch == max(number for number, score in enumerate(scores, 1) if score == 1.0)


def test_a_run_reports_all_events_to_its_display(toy: Path, tmp_path: Path, silence: Any) -> None:
    result = start_run(load_recipe(toy / "toy.toml", ["train.epochs=2"]), tmp_path / "run", silence)
    kinds = [type(event) for event in silence.events]
    assert kinds[0] is Summary
    assert kinds[-1] is RunResult
    assert kinds.count(Epoch) == 2
    assert kinds.count(Step) >= 20
    summary = silence.events[0]
    assert (summary.epochs, summary.first_epoch, summary.complete) == (2, 1, False)
    rows = dict(summary.rows)
    assert rows["train"].startswith("80 sentences, ")
    assert rows["dev"] == "20 sentences"
    assert rows["labels"].startswith("O ")
    assert "S-LOC " in rows["labels"]
    assert rows["model"].endswith(" parameters, on cpu")
    assert result is silence.events[-1]
    assert any("exported the best model" in note for note in silence.notes)


def test_without_a_test_file_the_report_shows_dev_scores(toy: Path, tmp_path: Path, silence: Any) -> None:
    recipe = load_recipe(toy / "toy.toml", ["train.epochs=1", "data.test=none"])
    result = start_run(recipe, tmp_path / "run", silence)
    assert result is not None
    assert set(result.evaluations) == {"dev"}
    assert "run: dev" in (tmp_path / "run/report.html").read_text("utf-8")


def test_the_stored_recipe_has_absolute_paths(
    toy: Path, tmp_path: Path, monkeypatch: Any, silence: Any
) -> None:
    """A run may be resumed from another working directory."""
    monkeypatch.chdir(toy)
    start_run(
        load_recipe("toy.toml", ["data.train=train.conll", "train.epochs=1"]), tmp_path / "run", silence
    )
    assert load_recipe(tmp_path / "run/recipe.toml").data.train == str(toy / "train.conll")


def test_a_failed_start_leaves_no_folder(toy: Path, tmp_path: Path, silence: Any) -> None:
    recipe = load_recipe(toy / "toy.toml", ["data.train=nowhere.conll"])
    with pytest.raises(RecipeError, match=r"data\.train: file not found: nowhere\.conll"):
        start_run(recipe, tmp_path / "run", silence)
    assert not (tmp_path / "run").exists()
    (tmp_path / "mine").mkdir()
    with pytest.raises(RecipeError):
        start_run(recipe, tmp_path / "mine", silence)
    assert (tmp_path / "mine").is_dir(), "a folder that was there before stays"


class Interrupting:
    """A display that raises ``KeyboardInterrupt`` at the first note."""

    def __init__(self, silence: Any) -> None:
        self._silence = silence

    def __getattr__(self, name: str) -> Any:
        return getattr(self._silence, name)

    def note(self, text: str) -> None:
        raise KeyboardInterrupt


def content(folder: Path) -> dict[str, bytes]:
    """Return the files of a folder by name."""
    return {path.name: path.read_bytes() for path in folder.iterdir()}


@pytest.fixture
def data(toy: Path, text_toy: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Work in a folder with the files of both toy corpora, a link to one, and another text."""
    folder = tmp_path / "data"
    for corpus in (toy, text_toy):
        shutil.copytree(corpus, folder, dirs_exist_ok=True)
    (folder / "more.txt").write_text("Anna sleeps .\n", "utf-8")
    (folder / "link").symlink_to("train.conll")
    monkeypatch.chdir(folder)
    return folder


@pytest.mark.parametrize(
    ("recipe", "suffix", "further"),
    [
        ("toy", "conll", ()),
        ("texts", "tsv", ()),
        ("toy", "conll", ("loss.adversary.text=more.txt", "data.vectors=link")),
        ("toy", "conll", ("heads.x.train=link", "data.partial=more.txt")),
    ],
)
def test_copies_never_overwrite_a_file_that_the_recipe_reads(
    recipe: str, suffix: str, further: tuple[str, ...], data: Path, silence: Any
) -> None:
    before = content(data)
    settings = [*(f"data.{split}={split}.{suffix}" for split in ("train", "dev", "test")), *further]
    for file in (change.partition("=")[2] for change in settings):
        changes = [*settings, "data.augment.copies=1", f"data.augment.file={file}"]
        told = f"data.augment.file: cannot write {data / file}: it is an input file. Choose another file"
        with pytest.raises(RecipeError, match=f"^{re.escape(told)}$"):
            start_run(load_recipe(f"{recipe}.toml", changes), data.parent / "run", silence)
    assert content(data) == before
    assert not (data.parent / "run").exists()


def test_a_missing_folder_for_copies_is_reported_before_data_are_read(
    toy: Path, tmp_path: Path, silence: Any
) -> None:
    settings = ["data.augment.copies=1", f"data.augment.file={tmp_path}/none/copies.conll"]
    told = f"none/copies.conll: folder {tmp_path}/none does not exist. Run: mkdir -p {tmp_path}/none"
    with pytest.raises(RecipeError, match=f"{re.escape(told)}$"):
        start_run(load_recipe(toy / "toy.toml", settings), tmp_path / "run", silence)
    assert not silence.events


def test_ctrl_c_while_files_are_read_leaves_no_folder(toy: Path, tmp_path: Path, silence: Any) -> None:
    """There is nothing to resume yet, so the same command must work again."""
    with pytest.raises(KeyboardInterrupt):
        start_run(load_recipe(toy / "toy.toml"), tmp_path / "run", Interrupting(silence))
    assert not (tmp_path / "run").exists()


def test_ctrl_c_while_pretraining_text_is_read_leaves_a_resumable_run(
    prose: Path, toy_bilm: Path, tmp_path: Path, silence: Any
) -> None:
    recipe = load_recipe(prose / "pretrain.toml", command="pretrain")
    assert start_run(recipe, tmp_path / "run", Interrupting(silence)) is None
    assert silence.events == [tmp_path / "run"]
    assert (tmp_path / "run/recipe.toml").is_file()
    assert resume_run(tmp_path / "run", silence, command="pretrain") is not None
    one, other = (read_tensors(run / "best.safetensors")[0] for run in (tmp_path / "run", toy_bilm))
    assert all(torch.equal(one[name], other[name]) for name in other)


@pytest.mark.parametrize("often", [True, False])
def test_a_run_that_fails_keeps_its_checkpoint_or_leaves_no_folder(
    often: bool, toy: Path, tmp_path: Path, silence: Any
) -> None:
    """Without a checkpoint there is nothing to resume, and the same --out can be used again."""
    odd = ["train.lr=1e38", "train.optimizer=sgd", "train.clip=0", "train.precision=float32"]
    recipe = load_recipe(toy / "toy.toml", [*odd, f"train.checkpoint_seconds={1e-9 if often else 1e9}"])
    with pytest.raises(GonieError, match="the loss became"):
        start_run(recipe, tmp_path / "run", silence)
    assert (tmp_path / "run").exists() == often
    if often:  # the first step has finite weights; later ones are not saved
        state, _ = read_tensors(tmp_path / "run/last.safetensors")
        assert torch.isfinite(state["loss"])


def test_new_runs_get_the_next_free_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert default_folder("ner") == default_folder("somewhere/ner.toml") == Path("runs/ner")
    assert default_folder("ner", resume=True) == Path("runs/ner")
    for name in ("ner", "ner-2"):
        (tmp_path / "runs" / name).mkdir(parents=True)
        (tmp_path / "runs" / name / "recipe.toml").touch()
    assert default_folder("ner") == Path("runs/ner-3")
    assert default_folder("ner", resume=True) == Path("runs/ner-2")
