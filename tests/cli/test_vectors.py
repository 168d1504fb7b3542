"""Tests `gonie vectors`: a figure and two tables of a run's word vectors, and refusals."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from gonie.tasks.recipe import load_recipe
from gonie.training.run import start_run

Gonie = Callable[..., Any]


def test_without_words_typical_words_are_drawn_into_the_run_folder(
    gonie: Gonie, toy_run: Path, tmp_path: Path
) -> None:
    run = tmp_path / "run"
    shutil.copytree(toy_run, run)
    outcome = gonie("vectors", run)
    assert outcome.code == 0, outcome.err
    page = (run / "vectors.svg").read_text("utf-8")
    assert (run / "vectors.png").is_file()
    for text in ("seoul", "anna", "rains", "LOC", "PER", "t-SNE"):
        assert f">{text}" in page, text
    for text in ("moved most", "nearest neighbours", "vectors.png"):
        assert text in outcome.out, text


def test_requested_words_are_drawn_and_unknown_ones_named(
    gonie: Gonie, toy_run: Path, tmp_path: Path
) -> None:
    more = tmp_path / "words.txt"
    more.write_text("Paris\n서울\n", "utf-8")
    picture = tmp_path / "v.svg"
    outcome = gonie("vectors", toy_run, "Seoul", "Zzz", "--words", more, "--out", picture, "--method", "pca")
    assert outcome.code == 0, outcome.err
    page = picture.read_text("utf-8")
    assert ">seoul<" in page
    assert ">paris<" in page
    assert ">anna<" not in page
    assert "Zzz, 서울" in outcome.out
    assert [path.name for path in tmp_path.iterdir() if path.suffix in (".png", ".svg")] == ["v.svg"]


def test_the_same_command_writes_identical_figures(gonie: Gonie, toy_run: Path, tmp_path: Path) -> None:
    for name in ("a", "b"):
        assert gonie("vectors", toy_run, "--out", tmp_path / name).code == 0
    for suffix in (".png", ".svg"):
        one, other = ((tmp_path / f"{name}{suffix}").read_bytes() for name in ("a", "b"))
        assert one == other


def test_invalid_arguments_are_refused_and_nothing_is_written(
    gonie: Gonie, toy_run: Path, tmp_path: Path
) -> None:
    assert gonie("vectors", toy_run, "Zzz", "--out", tmp_path / "v").refused("Zzz", "no word has a vector")
    assert gonie("vectors", tmp_path / "none").refused("none", "gonie train")
    assert gonie("vectors", toy_run / "bundle").refused("recipe.toml")
    assert gonie("vectors", toy_run, "--out", tmp_path / "v.pdf").refused(".png or .svg")
    assert gonie("vectors", toy_run, "--method", "umap").refused("tsne", "pca")
    assert gonie("vectors", toy_run, "--words", tmp_path / "none.txt").refused("none.txt")
    assert not list(tmp_path.iterdir())


def test_a_classifier_is_refused_with_a_message(
    gonie: Gonie, text_toy: Path, tmp_path: Path, silence: Any
) -> None:
    """The words of a classifier have no labels of their own to colour them by."""
    recipe = load_recipe(text_toy / "texts.toml", ["train.epochs=1"])
    assert start_run(recipe, tmp_path / "run", silence)
    before = {path.name for path in (tmp_path / "run").iterdir()}
    refused = gonie("vectors", tmp_path / "run")
    assert refused.refused("not a tagger")
    assert {path.name for path in (tmp_path / "run").iterdir()} == before


def test_without_scikit_learn_the_extra_to_install_is_named(
    gonie: Gonie, toy_run: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "sklearn.manifold", None)
    out = tmp_path / "v.png"
    assert gonie("vectors", toy_run, "--out", out).refused("gonie[explain]", "--method pca")
    assert gonie("vectors", toy_run, "--out", out, "--method", "pca").code == 0
