"""Tests `gonie evaluate --ensemble` and `--mc-dropout`."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from gonie.runtime.bundle import write_bundle

Gonie = Callable[..., Any]


def scores(gonie: Gonie, out: Path, *arguments: object) -> dict[str, Any]:
    outcome = gonie("evaluate", *arguments, "--json", out)
    assert outcome.code == 0, outcome.err
    found: dict[str, Any] = json.loads(out.read_text("utf-8"))
    return found


def rounded(record: Any) -> Any:
    """Return a record with numbers to six digits: means of equal numbers may differ in the last one."""
    if isinstance(record, dict):
        return {name: rounded(value) for name, value in record.items()}
    if isinstance(record, list):
        return [rounded(value) for value in record]
    return round(record, 6) if isinstance(record, float) else record


def test_a_model_with_its_copies_scores_the_same(
    gonie: Gonie, toy: Path, toy_run: Path, tmp_path: Path
) -> None:
    alone = scores(gonie, tmp_path / "a.json", toy_run, toy / "test.conll")
    copies = [shutil.copytree(toy_run / "bundle", tmp_path / name) for name in ("one", "two")]
    others = [argument for copy in copies for argument in ("--ensemble", copy)]
    together = scores(gonie, tmp_path / "b.json", toy_run, toy / "test.conll", *others)
    assert together.pop("ensemble") == [str(folder) for folder in (toy_run, *copies)]
    assert rounded(together) == rounded(alone)


@pytest.mark.parametrize("inside", ["", "bundle"])
def test_a_model_is_no_member_of_its_own_ensemble(
    inside: str, gonie: Gonie, toy: Path, toy_run: Path
) -> None:
    """Its scores would look like those of an ensemble, without being any better."""
    outcome = gonie("evaluate", toy_run, toy / "test.conll", "--ensemble", toy_run / inside)
    assert outcome.refused("a model is in the ensemble twice", "runs with other seeds")


@pytest.mark.parametrize("number", [1, 3])
def test_the_output_says_that_several_passes_are_scored(
    number: int, gonie: Gonie, toy: Path, toy_run: Path, tmp_path: Path
) -> None:
    """Otherwise it could not be told from the output of the model alone."""
    out = tmp_path / "s.json"
    given = ("--mc-dropout", number, "--seed", 4, "--json", out)
    outcome = gonie("evaluate", toy_run, toy / "test.conll", *given)
    assert f"mean of passes with dropout: {number}" in outcome.out.splitlines()
    assert json.loads(out.read_text("utf-8"))["mc_dropout"] == {"passes": number, "seed": 4}


def test_the_output_says_that_an_ensemble_is_scored(
    gonie: Gonie, toy: Path, toy_run: Path, tmp_path: Path
) -> None:
    copy = shutil.copytree(toy_run / "bundle", tmp_path / "copy")
    outcome = gonie("evaluate", toy_run, toy / "test.conll", "--ensemble", copy)
    assert "ensemble of 2 models" in outcome.out.splitlines()
    assert "ensemble of" not in gonie("evaluate", toy_run, toy / "test.conll").out


def test_passes_are_scored_and_repeated(gonie: Gonie, toy: Path, toy_run: Path, tmp_path: Path) -> None:
    given = (toy_run, toy / "test.conll", "--mc-dropout", 3)
    one, same, other = (
        scores(gonie, tmp_path / "s.json", *given, "--seed", seed)["calibration"] for seed in (1, 1, 2)
    )
    assert one == same
    assert one != other
    assert one["ece_expected"] is not None


def test_entropies_tell_files_apart(gonie: Gonie, toy: Path, toy_run: Path, tmp_path: Path) -> None:
    out = tmp_path / "r.html"
    files = (f"a={toy / 'test.conll'}", f"b={toy / 'dev.conll'}")
    found = scores(gonie, tmp_path / "s.json", toy_run, *files, "--mc-dropout", 3, "--html", out)
    assert set(found["separation"]["b"]) == {
        *("lowest", "total_entropy", "data_entropy", "mutual_information")
    }
    assert "mutual information" in out.read_text("utf-8")


def test_classifiers_are_combined(gonie: Gonie, text_bundle: Callable[..., Any], tmp_path: Path) -> None:
    for name, temperature in (("cool", 1.0), ("warm", 3.0)):
        write_bundle(tmp_path / name, text_bundle(temperature=temperature))
    table = tmp_path / "texts.tsv"
    table.write_text("label\ttext\npositive\tgood film\nnegative\tthe bad film\npositive\tbad\n", "utf-8")
    alone = [scores(gonie, tmp_path / "s.json", tmp_path / name, table) for name in ("cool", "warm")]
    given = (tmp_path / "cool", table, "--ensemble", tmp_path / "warm", "--html", tmp_path / "r.html")
    together = scores(gonie, tmp_path / "s.json", *given)
    assert together["accuracy"] == alone[0]["accuracy"]
    nlls = sorted([each["calibration"]["nll"] for each in [*alone, together]])
    assert nlls[1] == together["calibration"]["nll"], "between its members"
    assert gonie("evaluate", tmp_path / "cool", table, "--mc-dropout", 2).refused("needs the checkpoint")


@pytest.mark.parametrize(
    ("options", "told"),
    [
        (("--seed", 1), "--seed applies only to --mc-dropout"),
        (("--mc-dropout", 2, "--ensemble", "x"), "--mc-dropout cannot be combined with --ensemble"),
        (("--ensemble", "missing"), "missing"),
        (("--mc-dropout", 0), "--mc-dropout must be at least 1: 0"),
    ],
)
def test_options_that_do_not_fit_are_refused(
    gonie: Gonie, toy: Path, toy_run: Path, options: tuple[object, ...], told: str
) -> None:
    assert gonie("evaluate", toy_run, toy / "test.conll", *options).refused(told)
