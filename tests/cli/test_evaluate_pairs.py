"""Tests `gonie evaluate` of a pair model: scores on the terminal, as JSON and as HTML, and refusals."""

from __future__ import annotations

import html
import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from gonie.runtime.bundle import write_bundle

Gonie = Callable[..., Any]
LABELS = ["good\tgood\tsame", "good\tbad\tother", "bad film\tbad\tother", "good\tbad\t-"]
VALUES = ["good\tgood\t4.5", "good\tbad\t0.5", "film\tfilm\t4", "bad film\tbad\t4"]


@pytest.fixture(scope="module")
def models(tmp_path_factory: pytest.TempPathFactory, pair_bundle: Any) -> Path:
    """Write a folder with a model that predicts labels and one that predicts values."""
    folder = tmp_path_factory.mktemp("models")
    for kind, gold in (("labels", "label_column"), ("values", "value_column")):
        recipe = {"data": {"text_columns": ["p", "h"], gold: "gold"}}
        write_bundle(folder / kind / "bundle", pair_bundle(values=kind == "values", recipe=recipe))
    return folder


def table(path: Path, rows: list[str], header: str = "p\th\tgold") -> Path:
    path.write_text("".join(f"{row}\n" for row in [header, *rows]), "utf-8")
    return path


def test_scores_of_labels_are_shown(gonie: Gonie, models: Path, tmp_path: Path) -> None:
    outcome = gonie("evaluate", models / "labels", table(tmp_path / "gold.tsv", LABELS))
    assert outcome.code == 0, outcome.err
    for words in ("Accuracy 66.67", "same", "other", "by the suffix .tsv", "pair without a gold label"):
        assert words in outcome.out, words


def test_labels_with_other_names_need_a_map(gonie: Gonie, models: Path, tmp_path: Path) -> None:
    """Scoring them would give 0.00 without a reason."""
    gold = table(tmp_path / "gold.tsv", ["good\tgood\tyes", "good\tbad\tno", "film\tbad\tunsure"])
    outcome = gonie("evaluate", models / "labels", gold)
    assert outcome.refused("Map them: --map yes=LABEL --map no=LABEL --map unsure=LABEL")
    rules = ("--map", "yes=same", "--map", "no=other", "--map", "unsure=O")
    outcome = gonie("evaluate", models / "labels", gold, *rules)
    assert outcome.code == 0, outcome.err
    assert "Accuracy 100.00" in outcome.out
    assert "skipped 1 pair whose label the map drops" in outcome.out


def test_scores_of_values_are_shown(gonie: Gonie, models: Path, tmp_path: Path) -> None:
    outcome = gonie("evaluate", models / "values", table(tmp_path / "gold.tsv", VALUES))
    assert outcome.code == 0, outcome.err
    for words in ("Pearson ", "95% interval", "Spearman ", "mean absolute error", "(4 pairs)"):
        assert words in outcome.out.replace("\n", " "), words


def test_json_scores_are_fractions_under_documented_names(gonie: Gonie, models: Path, tmp_path: Path) -> None:
    gold = table(tmp_path / "gold.tsv", LABELS)
    assert gonie("evaluate", models / "labels", gold, "--json", tmp_path / "s.json").code == 0
    scores = json.loads((tmp_path / "s.json").read_text("utf-8"))
    assert scores["accuracy"] == pytest.approx(2 / 3)
    assert scores["types"]["other"]["recall"] == 0.5
    gold = table(tmp_path / "gold.tsv", VALUES)
    assert gonie("evaluate", models / "values", gold, "--json", tmp_path / "s.json").code == 0
    scores = json.loads((tmp_path / "s.json").read_text("utf-8"))
    assert -1 <= scores["intervals"]["pearson"][0] <= scores["pearson"] <= 1
    assert scores["pairs"] == 4


@pytest.mark.parametrize(("kind", "rows", "gold"), [("labels", LABELS, "same"), ("values", VALUES, "0")])
def test_the_html_report_loads_nothing_external_and_escapes_texts(
    kind: str, rows: list[str], gold: str, *, gonie: Gonie, models: Path, tmp_path: Path
) -> None:
    file = table(tmp_path / "gold.tsv", [*rows, f"<script>alert(1)</script> bad\tbad\t{gold}"])
    outcome = gonie("evaluate", models / kind, file, "--html", tmp_path / "r.html")
    assert outcome.code == 0, outcome.err
    page = (tmp_path / "r.html").read_text("utf-8")
    assert "<script>alert" not in page
    words = re.sub(r"<i>[^<]*</i>", "", page)  # the score of each word in the heat map
    assert "<script>alert(1)</script> bad" in html.unescape(re.sub(r"<[^>]*>", "", words))
    assert not re.findall(r"(?:src|href)\s*=\s*[\"'](?!#)|@import|url\(", page)


def test_errors_are_written_to_a_file_and_shown(gonie: Gonie, models: Path, tmp_path: Path) -> None:
    gold = table(tmp_path / "gold.tsv", LABELS)
    outcome = gonie("evaluate", models / "labels", gold, "--errors", tmp_path / "e.jsonl")
    assert outcome.code == 0, outcome.err
    (error,) = map(json.loads, (tmp_path / "e.jsonl").read_text("utf-8").splitlines())
    assert (error["gold"], error["predicted"], error["text"], error["text_pair"], error["line"]) == (
        "other",
        "same",
        "bad film",
        "bad",
        4,
    )
    assert "1 error; " in outcome.out
    assert "bad film | bad" in outcome.out
    gold = table(tmp_path / "gold.tsv", VALUES)
    outcome = gonie("evaluate", models / "values", gold, "--errors", tmp_path / "e.tsv")
    header, *rows = (tmp_path / "e.tsv").read_text("utf-8").splitlines()
    assert header.split("\t")[1:6] == ["kind", "gold", "predicted", "text", "text_pair"]
    assert len(rows) == 4
    assert rows[0].split("\t")[4:6] == ["film", "film"]


def test_columns_and_format_can_be_chosen(gonie: Gonie, models: Path, tmp_path: Path) -> None:
    path = tmp_path / "gold.data"
    path.write_text('{"p": "good", "h": "good", "v": 5}\n{"p": "good", "h": "bad", "v": 0}\n', "utf-8")
    assert gonie("evaluate", models / "values", path).refused("no column gold", "gold.data:1")
    outcome = gonie("evaluate", models / "values", path, "--label-column", "v", "--format", "jsonl")
    assert "Pearson 100.00" in outcome.out, outcome.err


def test_the_wrong_kind_of_gold_answers_is_refused(gonie: Gonie, models: Path, tmp_path: Path) -> None:
    words = table(tmp_path / "labels.tsv", LABELS)
    assert gonie("evaluate", models / "values", words).refused(
        "labels.tsv:2: not a number under 'gold': 'same'"
    )
    other = table(tmp_path / "other.tsv", ["good\tbad\tsame"], header="p\th\tlabel")
    refused = gonie("evaluate", models / "values", other)
    assert refused.refused("other.tsv", "no column gold with the gold answer", "--label-column")
    assert "--set" not in refused.err, "`gonie evaluate` has no such option"


def test_missing_text_columns_are_named(gonie: Gonie, models: Path, tmp_path: Path) -> None:
    other = table(tmp_path / "other.tsv", ["good\tbad\tsame"], header="premise\thypothesis\tgold")
    refused = gonie("evaluate", models / "labels", other)
    assert refused.refused(
        "other.tsv:1: no columns p and h for the two texts; the columns are 'premise', 'hypothesis'",
        "--text-column A --text-column B",
    )
    assert "--set" not in refused.err
    named = ["--text-column", "premise", "--text-column", "hypothesis"]
    outcome = gonie("evaluate", models / "labels", other, *named)
    assert outcome.code == 0, outcome.err
    assert "texts: premise and hypothesis (as asked)" in outcome.out
    assert "labels: gold (as in training)" in outcome.out
    assert gonie("evaluate", models / "labels", other, *named[:2]).refused("got 1: premise")


def test_options_of_other_models_are_refused(gonie: Gonie, models: Path, tmp_path: Path) -> None:
    gold = table(tmp_path / "gold.tsv", LABELS)
    assert gonie("evaluate", models / "labels", gold, "--bias", "1").refused("--bias does not apply to pair")


def test_unwritable_output_files_are_refused_before_scoring(
    gonie: Gonie, models: Path, tmp_path: Path
) -> None:
    for option in ("--html", "--json", "--errors"):
        refused = gonie("evaluate", models / "labels", "no such file", option, tmp_path / "no" / "x.tsv")
        assert refused.refused(f"folder {tmp_path / 'no'} does not exist. Run: mkdir -p")
        assert "earlier content" not in refused.err
    assert gonie("evaluate", models / "labels", "x", "--json", tmp_path).refused("it is a folder")


def test_truncated_texts_are_reported(gonie: Gonie, tmp_path: Path, pair_bundle: Any) -> None:
    write_bundle(tmp_path / "b", pair_bundle(max_tokens=1))
    gold = table(tmp_path / "g.tsv", ["good bad\tgood\tsame"], header="text\ttext_pair\tlabel")
    assert "cut to 1 token" in gonie("evaluate", tmp_path / "b", gold).out


def test_scores_of_a_trained_run_equal_those_in_its_folder(
    gonie: Gonie, pair_runs: Path, pair_toy: Path
) -> None:
    for kind, score in (("labels", "Accuracy"), ("values", "Pearson")):
        outcome = gonie("evaluate", pair_runs / kind, pair_toy / f"{kind}-test.tsv")
        assert outcome.code == 0, outcome.err
        kept = json.loads((pair_runs / kind / "evaluation.json").read_text("utf-8"))["test"]
        assert f"{score} {100 * kept[kept['headline']]:.2f}" in outcome.out
