"""Tests `gonie compare`: its output, the files it writes, and what it refuses."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Gonie = Callable[..., Any]


@pytest.fixture
def small(toy: Path) -> list[str]:
    return [str(toy / "toy.toml"), "--set", "train.epochs=2", "--jobs", "1"]


def test_a_comparison_is_shown_and_written_to_its_folder(
    gonie: Gonie, small: list[str], tmp_path: Path
) -> None:
    out = tmp_path / "c"
    ended = gonie("compare", *small, "--set", "train.lr=0.01,0.05", "--seeds", "2", "--out", out)
    assert ended.code == 0, ended.err
    for words in (
        "80 sentences",
        "2 cells, 2 seeds each, 1 in parallel",
        "1/4  lr=0.01 seed=1: dev ",
        "4/4  lr=0.05 seed=2: dev ",
        "dev F1 ",
        "±",
        "best with lr=",
        "the highest value tried; try higher",
        "train - dev by value",
        str(out / "curves.png"),
        f"Try:  gonie train {out}/cells/",
    ):
        assert words in ended.out, words
    assert (out / "curves.svg").read_bytes().startswith(b"<?xml")
    assert len(json.loads((out / "results.json").read_text("utf-8"))["cells"]) == 2


def test_folds_are_shown(gonie: Gonie, text_toy: Path, tmp_path: Path) -> None:
    out = tmp_path / "c"
    settings = ["--set", "data.test=none", "--set", "train.epochs=1", "--jobs", "1", "--folds", "2"]
    ended = gonie("compare", text_toy / "texts.toml", *settings, "--out", out)
    assert ended.code == 0, ended.err
    for words in (
        "1 cell, 1 seed on 2 folds each, 1 in parallel",
        "fold 2 of 2: 30 texts of",
        "1/2  seed=1 fold=1: dev ",
        "2/2  seed=1 fold=2: dev ",
        "over 2 folds; best:",
    ):
        assert words in ended.out, words
    again = gonie("compare", "--out", out, "--resume", "--folds", "2")
    assert again.code == 0
    assert "2 of 2 runs already finished" in again.out


def test_the_printed_command_trains_the_best_cell(gonie: Gonie, small: list[str], tmp_path: Path) -> None:
    ended = gonie("compare", *small, "--out", tmp_path / "c")
    command = next(line for line in ended.out.splitlines() if line.startswith("Try:"))
    recipe = command.split()[-1]
    trained = gonie("train", recipe, "--out", tmp_path / "best")
    assert trained.code == 0, trained.err
    found = json.loads((tmp_path / "c" / "results.json").read_text("utf-8"))["cells"][0]["dev"]["mean"]
    scores = json.loads((tmp_path / "best" / "evaluation.json").read_text("utf-8"))
    assert scores["dev"]["f1"] == pytest.approx(found)


def test_recipes_vectors_and_features_are_compared_in_one_table(
    gonie: Gonie, toy: Path, tmp_path: Path
) -> None:
    """Repeats the layout of the robustness table of Huang et al. 2015: model by vectors by features."""
    vectors = tmp_path / "v.txt"
    vectors.write_text("anna 0.1 0.2 0.3\nseoul 0.3 0.1 0.2\n", "utf-8")
    files = [f"data.{split}={toy}/{split}.conll" for split in ("train", "dev", "test")]
    settings = [*files, "model.encoder.hidden=4", "train.epochs=1", "train.device=cpu"]
    swept = [f"data.vectors=none,{vectors}", 'model.head.direct=[],["spelling","context"]']
    options = [part for change in (*swept, *settings) for part in ("--set", change)]
    ended = gonie("compare", "lstm", "bilstm-crf", *options, "--jobs", "1", "--out", tmp_path / "c")
    assert ended.code == 0, ended.err
    cells = json.loads((tmp_path / "c" / "results.json").read_text("utf-8"))["cells"]
    assert [cell["values"][0] for cell in cells] == ["lstm"] * 4 + ["bilstm-crf"] * 4
    assert len({tuple(cell["values"]) for cell in cells}) == 8


def test_a_diverging_cell_gives_exit_status_1(gonie: Gonie, small: list[str], tmp_path: Path) -> None:
    """Scripts detect an incomplete table by the exit status."""
    diverging = ["--set", "train.optimizer=sgd", "--set", "train.clip=0", "--set", "train.lr=0.1,1e30"]
    ended = gonie("compare", *small, *diverging, "--out", tmp_path / "c")
    assert ended.code == 1
    assert "failed: the loss became" in ended.out
    assert "failed: cells/2_lr=1e30_seed=1: the loss became" in ended.out
    assert "1e30" in (tmp_path / "c" / "table.tsv").read_text("utf-8")


def test_folders_are_named_after_the_recipe_and_resume_finds_the_latest(
    gonie: Gonie, small: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("compare-toy", "compare-toy-2"):
        assert gonie("compare", *small).code == 0
        assert (tmp_path / "runs" / name / "table.md").is_file()
    again = gonie("compare", *small, "--resume")
    assert again.code == 0
    assert "1 of 1 runs already finished" in again.out
    assert "runs/compare-toy-2/curves.png" in again.out


def test_all_mistakes_are_reported_at_once_and_nothing_is_written(
    gonie: Gonie, toy: Path, tmp_path: Path
) -> None:
    out = tmp_path / "c"
    options = ["--set", "train.lr=0.1,-1,x", "--set", "train.epoch=2", "--set", "model.encoder.hidden=0,4"]
    ended = gonie("compare", toy / "toy.toml", *options, "--out", out)
    assert ended.refused("train.lr", "did you mean 'epochs'?", "model.encoder.hidden", "hidden=0")
    assert ended.err.count("did you mean") == 1
    assert not out.exists()


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ([], "no recipe to compare"),
        (["--resume"], "--out"),
        (["--resume", "--out", "nowhere"], "without --resume"),
        (["nr"], "Did you mean ner?"),
        (["ner", "--set", "train.lr=1", "--set", "train.lr=2"], "set twice"),
        (["ner", "--seeds", "0"], "seeds"),
        (["ner", "--folds", "3"], "--folds does not apply to a tagger"),
        (["subjectivity", "--folds", "1"], "folds"),
        (["subjectivity", "--folds", "3"], "--set data.test=none"),
        (["ner", "--jobs", "0"], "jobs"),
    ],
)
def test_invalid_arguments_are_refused(gonie: Gonie, arguments: list[str], words: str) -> None:
    assert gonie("compare", *arguments).refused(words)


def test_resuming_with_other_settings_is_refused(gonie: Gonie, small: list[str], tmp_path: Path) -> None:
    out = tmp_path / "c"
    assert gonie("compare", *small, "--out", out).code == 0
    assert gonie("compare", "--out", out, "--resume", "--seeds", "2").refused("options differ", "--out")
    assert gonie("compare", *small, "--out", out).refused("already contains a comparison", "--resume")


def test_sizes_are_shown_with_their_verdict(gonie: Gonie, toy: Path, toy_run: Path, tmp_path: Path) -> None:
    out = tmp_path / "c"
    given = [f"a={toy / 'toy.toml'}", f"b={toy / 'toy.toml'}:model.encoder.hidden=3", f"old={toy_run}"]
    options = ["--sizes", "all,10,30", "--set", "train.epochs=2", "--jobs", "1"]
    ended = gonie("compare", *given, *options, "--out", out)
    assert ended.code == 0, ended.err
    for words in (
        "the smallest size has only about",
        "6 cells, 1 seed each, 1 in parallel",
        "sampled 10 of 80 sentences (data.size = 10)",
        "1/6  recipe=a size=10 seed=1: dev ",
        "scoring old",
        "measuring the speed of the models",
        "model",
        "tokens/s",
        "F1 on test in percent, by the number of labelled sentences",
        "Each score is that of one seed, so small differences may be chance.",
        f"page: {out / 'sizes.html'}",
    ):
        assert words in ended.out, words
    verdict = json.loads((out / "sizes.json").read_text("utf-8"))["verdict"]
    assert verdict in ended.out
    again = gonie("compare", "--out", out, "--resume")
    assert again.code == 0
    assert "6 of 6 runs already finished" in again.out
    assert verdict in again.out


@pytest.fixture
def places(toy: Path, toy_run: Path) -> dict[str, Path]:
    return {"recipe": toy / "toy.toml", "run": toy_run}


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (
            ["{recipe}", "--sizes", "20"],
            "--sizes needs two or more different sizes",
        ),
        (["{recipe}", "--sizes", "20,some"], "invalid training size: 'some'"),
        (["{recipe}", "--sizes", "10,999"], "data.size is 999, but there are only 80 sentences to train on"),
        (["{recipe}", "{run}"], "is a model, not a recipe. To draw it beside recipes, add --sizes 100,all"),
        (["{run}", "--sizes", "10,all"], "is a model, and there is no recipe to train"),
        (["{recipe}", "--sizes", "10,all", "--folds", "2"], "--sizes cannot be combined with --folds"),
        (["{recipe}", "--sizes", "10,all", "--in-sequence"], "--sizes cannot be combined with --in-sequence"),
        (["{recipe}", "--sizes", "10,all", "--leave-one-domain-out"], "--leave-one-domain-out"),
        (["{recipe}", "--sizes", "10,all", "--set", "data.size=5"], "the sizes are those of --sizes"),
        (["x={recipe}:train.epochz=5", "--sizes", "10,all"], "train.epochz"),
        (["x=missing.toml", "--sizes", "10,all"], "missing.toml"),
    ],
)
def test_sizes_that_are_refused(
    gonie: Gonie, places: dict[str, Path], tmp_path: Path, arguments: list[str], words: str
) -> None:
    given = [each.format(**places) for each in arguments]
    ended = gonie("compare", *given, "--out", tmp_path / "c")
    assert ended.code == 2
    assert words in ended.err
    assert "Traceback" not in ended.err
    assert not (tmp_path / "c").exists()
