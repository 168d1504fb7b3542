"""Tests `gonie export`."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

Gonie = Callable[..., Any]


def test_a_run_becomes_a_bundle_that_tags(gonie: Gonie, toy_run: Path, tmp_path: Path) -> None:
    outcome = gonie("export", toy_run, "--out", tmp_path / "out")
    assert outcome.code == 0
    assert "scores equal those of the trained model within" in outcome.out
    assert f"{tmp_path / 'out'}: 0." in outcome.out
    again = [gonie("tag", model, "Anna Kim lives in Seoul.").out for model in (toy_run, tmp_path / "out")]
    assert again[0] == again[1] != ""


def test_int8_export_reports_changed_answers(gonie: Gonie, toy_run: Path, tmp_path: Path) -> None:
    outcome = gonie("export", toy_run, "--int8", "--out", tmp_path / "out")
    assert outcome.code == 0
    assert "int8, on the dev data: 0 of" in outcome.out
    assert gonie("tag", tmp_path / "out", "Anna Kim lives in Seoul.").code == 0


def test_a_folder_that_is_not_a_run_is_refused(gonie: Gonie, tmp_path: Path) -> None:
    outcome = gonie("export", tmp_path, "--out", tmp_path / "out")
    assert outcome.refused("not a training run", "recipe.toml")


def test_a_bundle_is_not_overwritten(gonie: Gonie, toy_run: Path, tmp_path: Path) -> None:
    """As for run folders: another model would be lost."""
    (tmp_path / "bundle.json").write_text("{}", "utf-8")
    outcome = gonie("export", toy_run, "--out", tmp_path)
    assert outcome.refused("already contains a bundle", "another --out")
    assert (tmp_path / "bundle.json").read_text("utf-8") == "{}"


def test_a_folder_with_other_files_is_refused(gonie: Gonie, toy_run: Path, tmp_path: Path) -> None:
    """The user's other files must not be lost."""
    (tmp_path / "notes.txt").write_text("mine", "utf-8")
    outcome = gonie("export", toy_run, "--out", tmp_path)
    assert outcome.refused(str(tmp_path))
    assert (tmp_path / "notes.txt").read_text("utf-8") == "mine"
