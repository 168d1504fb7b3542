"""Tests `gonie evaluate` of a classifier: scores on the terminal, as JSON and as HTML, and refusals."""

from __future__ import annotations

import html
import json
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from gonie.runtime.bundle import write_bundle

Gonie = Callable[..., Any]
ROWS = [("good", "positive"), ("bad bad", "negative"), ("film", "positive"), ("a good film", "positive")]


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory, text_bundle: Any) -> Path:
    folder = tmp_path_factory.mktemp("model")
    recipe = {"data": {"text_column": "document", "label_column": "opinion"}}
    write_bundle(folder / "bundle", text_bundle(recipe=recipe))
    return folder


@pytest.fixture
def gold(tmp_path: Path) -> Path:
    path = tmp_path / "gold.tsv"
    lines = ["document\topinion", *("\t".join(row) for row in ROWS)]
    path.write_text("".join(f"{line}\n" for line in lines), "utf-8")
    return path


def test_scores_are_shown(gonie: Gonie, model: Path, gold: Path) -> None:
    outcome = gonie("evaluate", model, gold)
    assert outcome.code == 0, outcome.err
    for words in (
        "Accuracy 75.00",
        "4 texts",
        "ROC AUC",
        "positive",
        "Calibration error",
        "by the suffix .tsv",
    ):
        assert words in outcome.out, words


def test_json_scores_are_fractions_under_documented_names(
    gonie: Gonie, model: Path, gold: Path, tmp_path: Path
) -> None:
    assert gonie("evaluate", model, gold, "--json", tmp_path / "s.json").code == 0
    scores = json.loads((tmp_path / "s.json").read_text("utf-8"))
    assert scores["accuracy"] == scores["f1"] == 0.75
    assert scores["types"]["positive"]["recall"] == pytest.approx(2 / 3)
    assert scores["auc"] == 1.0
    assert scores["calibration"]["ece"] > 0
    assert scores["intervals"]["resamples"] == 1000


def test_the_html_report_loads_nothing_external_and_escapes_texts(
    gonie: Gonie, model: Path, gold: Path, tmp_path: Path
) -> None:
    with gold.open("a", encoding="utf-8") as file:
        file.write("<script>alert(1)</script> bad\tpositive\n")
    outcome = gonie("evaluate", model, gold, "--html", tmp_path / "r.html")
    assert outcome.code == 0, outcome.err
    page = (tmp_path / "r.html").read_text("utf-8")
    assert "<script>alert" not in page
    words = re.sub(r"<i>[^<]*</i>", "", page)  # the score of each word in the heat map
    assert "<script>alert(1)</script> bad" in html.unescape(re.sub(r"<[^>]*>", "", words))
    assert not re.findall(r"(?:src|href)\s*=\s*[\"'](?!#)|@import|url\(", page)


def test_errors_are_written_to_a_file_and_shown(
    gonie: Gonie, model: Path, gold: Path, tmp_path: Path
) -> None:
    outcome = gonie("evaluate", model, gold, "--errors", tmp_path / "e.jsonl")
    assert outcome.code == 0, outcome.err
    (error,) = map(json.loads, (tmp_path / "e.jsonl").read_text("utf-8").splitlines())
    assert (error["gold"], error["predicted"], error["text"], error["line"]) == (
        "positive",
        "negative",
        "film",
        4,
    )
    assert "1 error; " in outcome.out


def test_columns_and_format_can_be_chosen(gonie: Gonie, model: Path, tmp_path: Path) -> None:
    path = tmp_path / "gold.data"
    path.write_text('{"t": "good", "l": "positive"}\n{"t": "bad", "l": "negative"}\n', "utf-8")
    assert gonie("evaluate", model, path).refused("document")
    command = ["evaluate", model, path, "--text-column", "t", "--label-column", "l", "--format", "jsonl"]
    assert gonie(*command, "--text-column", "u").refused("a classifier reads one text: t, u")
    outcome = gonie(*command)
    assert "Accuracy 100.00" in outcome.out, outcome.err


def test_texts_in_place_of_labels_are_refused(gonie: Gonie, model: Path, tmp_path: Path) -> None:
    path = tmp_path / "swapped.tsv"
    path.write_text("".join(f"{('positive', 'negative')[at % 2]}\tfilm {at}\n" for at in range(30)), "utf-8")
    outcome = gonie("evaluate", model, path, "--text", "0", "--label", "1")
    assert outcome.refused("30 different labels in 30 examples", "seems to be another column", "--label NAME")
    assert "--map" not in outcome.err


def test_truncated_texts_are_reported(gonie: Gonie, tmp_path: Path, text_bundle: Any) -> None:
    write_bundle(tmp_path / "b", text_bundle(upper=True, max_sentences=1))
    (tmp_path / "g.tsv").write_text("text\tlabel\nbad. good. good.\tpositive\n", "utf-8")
    assert "1 texts cut to 1 sentences" in gonie("evaluate", tmp_path / "b", tmp_path / "g.tsv").out


def test_options_of_another_task_are_refused(
    gonie: Gonie, model: Path, gold: Path, toy: Path, toy_run: Path
) -> None:
    """If --bias were silently ignored, users would think that it has no effect."""
    outcome = gonie("evaluate", model, gold, "--bias", "1", "--mode", "strict")
    assert outcome.refused("--mode, --bias do not apply to classifiers")
    outcome = gonie("evaluate", toy_run, toy / "test.conll", "--label-column", "tag")
    assert outcome.refused("--label-column does not apply to taggers")


def test_texts_without_a_label_are_skipped_and_counted(gonie: Gonie, model: Path, gold: Path) -> None:
    scored = gonie("evaluate", model, gold).out
    with gold.open("a", encoding="utf-8") as file:
        file.write("good\t\nbad\tNaN\n")
    outcome = gonie("evaluate", model, gold)
    assert outcome.code == 0, outcome.err
    assert "skipped 2 texts without a label" in outcome.out
    assert scored.splitlines()[-1] == outcome.out.splitlines()[-1]


def test_an_unsupported_errors_format_is_refused_before_scoring(
    gonie: Gonie, model: Path, tmp_path: Path
) -> None:
    outcome = gonie("evaluate", model, tmp_path / "none.tsv", "--errors", tmp_path / "e.html")
    assert outcome.refused(".tsv or .jsonl", "e.html")


def test_a_closed_pipe_does_not_stop_files_from_being_written(
    model: Path, gold: Path, tmp_path: Path
) -> None:
    """`gonie evaluate … | head -3` closes the pipe before the last line is printed."""
    files = [tmp_path / name for name in ("s.json", "e.tsv", "r.html")]
    options = [part for pair in zip(("--json", "--errors", "--html"), files, strict=True) for part in pair]
    command = [sys.executable, "-m", "gonie", "evaluate", model, gold, *options]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert process.stdout
    process.stdout.close()
    assert process.stderr
    assert process.stderr.read() == b""
    process.stderr.close()
    process.wait()
    assert [file.name for file in files if not file.is_file()] == []


OTHER_NAMES = "document\topinion\ngood\t1\nbad bad\t0\nfilm\t1\na good film\t2\n"


def test_a_file_with_other_label_names_is_refused_with_a_map(
    gonie: Gonie, model: Path, tmp_path: Path
) -> None:
    """Scoring it would give 0.00 without a reason."""
    (tmp_path / "other.tsv").write_text(OTHER_NAMES, "utf-8")
    outcome = gonie("evaluate", model, tmp_path / "other.tsv")
    assert outcome.refused(
        "the file's labels are 1, 0, 2, and the model's are negative, positive. "
        "Map them: --map 1=LABEL --map 0=LABEL --map 2=LABEL"
    )
    (tmp_path / "case.tsv").write_text("document\topinion\ngood\tPositive\nbad bad\tNegative\n", "utf-8")
    assert gonie("evaluate", model, tmp_path / "case.tsv").refused(
        "--map Positive=positive --map Negative=negative"
    )


def test_mapped_labels_are_scored_and_dropped_ones_counted(gonie: Gonie, model: Path, tmp_path: Path) -> None:
    (tmp_path / "other.tsv").write_text(OTHER_NAMES, "utf-8")
    rules = ("--map", "1=positive", "--map", "0=negative", "--map", "2=O")
    outcome = gonie("evaluate", model, tmp_path / "other.tsv", *rules)
    assert outcome.code == 0, outcome.err
    assert "Accuracy 66.67" in outcome.out
    assert "skipped 1 text whose label the map drops" in outcome.out
    assert gonie("evaluate", model, tmp_path / "other.tsv", "--map", "1=good").refused(
        "the label map renames to labels that the model does not have: good. "
        "The labels are negative, positive"
    )
