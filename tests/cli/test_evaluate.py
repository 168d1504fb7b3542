"""Tests `gonie evaluate` of a tagger: scores on the terminal, as JSON and as HTML, and refusals."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Gonie = Callable[..., Any]


def test_scores_are_shown_by_type_and_by_novelty(gonie: Gonie, toy: Path, toy_run: Path) -> None:
    outcome = gonie("evaluate", toy_run, toy / "test.conll")
    assert outcome.code == 0, outcome.err
    for words in ("F1 100.00", "PER", "LOC", "seen", "conlleval", "20 sentences"):
        assert words in outcome.out, words


def test_json_scores_are_fractions_under_documented_names(
    gonie: Gonie, toy: Path, toy_run: Path, tmp_path: Path
) -> None:
    gold = tmp_path / "gold.conll"
    gold.write_text("Anna\tB-PER\nlives\tO\nin\tO\nSeoul\tB-PER\n.\tO\n", "utf-8")
    outcome = gonie("evaluate", toy_run, gold, "--json", tmp_path / "s.json")
    assert outcome.code == 0, outcome.err
    scores = json.loads((tmp_path / "s.json").read_text("utf-8"))
    assert (scores["precision"], scores["recall"], scores["f1"]) == (0.5, 0.5, 0.5)
    assert scores["accuracy"] == pytest.approx(0.8)
    assert scores["types"]["PER"]["recall"] == 0.5
    assert scores["types"]["LOC"]["precision"] == 0.0
    assert (scores["mode"], scores["repair"]["policy"]) == ("conlleval", "none")


def test_a_score_on_the_training_file_is_a_warning(gonie: Gonie, toy: Path, toy_run: Path) -> None:
    words = "warning: the model was trained on"
    assert words in gonie("evaluate", toy_run, toy / "train.conll").out
    assert words not in gonie("evaluate", toy_run, toy / "test.conll").out


def test_only_the_first_misaligned_spans_are_listed(gonie: Gonie, toy_run: Path, tmp_path: Path) -> None:
    gold = tmp_path / "gold.jsonl"
    rows = [{"text": "Anna lives in Seoul", "spans": [[0, 4, "PER"], [0, 3, "LOC"], [14, 16, "LOC"]]}] * 4
    gold.write_text("\n".join(map(json.dumps, rows)), "utf-8")
    outcome = gonie("evaluate", toy_run, gold)
    assert "warning: 8 of 12 gold spans (67%) are not aligned" in outcome.out
    assert outcome.out.count("inside the token") + outcome.out.count("overlaps PER") == 5
    assert "and 3 more" in outcome.out


def test_the_html_report_loads_nothing_external_and_has_the_curve(
    gonie: Gonie, toy: Path, toy_run: Path, tmp_path: Path
) -> None:
    outcome = gonie("evaluate", toy_run, toy / "test.conll", "--html", tmp_path / "r.html")
    assert outcome.code == 0, outcome.err
    page = (tmp_path / "r.html").read_text("utf-8")
    assert not re.findall(r"(?:src|href)\s*=\s*[\"'](?!#)|@import|url\(", page)
    assert not re.search(r"https?://(?!www\.w3\.org/)", page)
    assert "<svg" in page


def test_a_bundle_without_its_run_folder_can_be_scored(
    gonie: Gonie, toy: Path, toy_run: Path, tmp_path: Path
) -> None:
    """Users deploy only the bundle, which has no training mentions and no learning curve."""
    shutil.copytree(toy_run / "bundle", tmp_path / "model")
    page = tmp_path / "r.html"
    outcome = gonie("evaluate", tmp_path / "model", toy / "test.conll", "--html", page)
    assert outcome.code == 0, outcome.err
    assert "F1 100.00" in outcome.out
    assert "unseen" not in outcome.out
    assert "unseen" in gonie("evaluate", toy_run, toy / "test.conll").out
    assert page.is_file()


def test_the_strict_mode_ignores_malformed_gold_entities(gonie: Gonie, toy_run: Path, tmp_path: Path) -> None:
    """An entity that begins with I counts for conlleval. In strict mode the predicted one is wrong."""
    gold = tmp_path / "gold.conll"
    gold.write_text("Anna\tI-PER\nlives\tO\nin\tO\nSeoul\tB-LOC\n.\tO\n", "utf-8")
    loose = gonie("evaluate", toy_run, gold, "--json", tmp_path / "a.json")
    strict = gonie("evaluate", toy_run, gold, "--mode", "strict", "--json", tmp_path / "b.json")
    assert "strict" in strict.out
    assert "strict" not in loose.out
    both = [json.loads((tmp_path / name).read_text("utf-8")) for name in ("a.json", "b.json")]
    assert [scores["mode"] for scores in both] == ["conlleval", "strict"]
    assert "F1 100.00" in loose.out
    assert "F1 66.67" in strict.out


def test_an_unknown_mode_is_refused(gonie: Gonie, toy: Path, toy_run: Path) -> None:
    assert gonie("evaluate", toy_run, toy / "test.conll", "--mode", "loose").refused("conlleval", "strict")


def test_tags_of_another_task_are_refused(gonie: Gonie, toy_run: Path, tmp_path: Path) -> None:
    """Scoring parts of speech as entities would give 0 without a reason."""
    gold = tmp_path / "gold.conll"
    gold.write_text("Anna\tNOUN\nlives\tVERB\n", "utf-8")
    assert gonie("evaluate", toy_run, gold).refused("the model's tags are", "NOUN")


def test_the_tag_column_can_be_chosen(gonie: Gonie, toy_run: Path, tmp_path: Path) -> None:
    gold = tmp_path / "gold.conll"
    gold.write_text("Anna B-PER B-LOC\nlives O O\nin O O\nSeoul B-LOC B-LOC\n. O O\n", "utf-8")
    assert "F1 50.00" in gonie("evaluate", toy_run, gold).out
    assert "F1 100.00" in gonie("evaluate", toy_run, gold, "--tag-column", "1").out
    assert "F1 100.00" in gonie("evaluate", toy_run, gold, "--tag-column", "-2").out


def test_numbered_tags_are_scored_by_their_names(gonie: Gonie, toy_run: Path, tmp_path: Path) -> None:
    gold = tmp_path / "gold.jsonl"
    gold.write_text('{"tokens": ["Anna", "lives", "in", "Seoul", "."], "tags": [1, 0, 0, 2, 0]}\n', "utf-8")
    assert "F1 100.00" in gonie("evaluate", toy_run, gold, "--tag-names", "O,B-PER,B-LOC").out


def test_a_file_without_gold_tags_is_refused(gonie: Gonie, toy_run: Path, tmp_path: Path) -> None:
    path = tmp_path / "raw.conll"
    path.write_text("Anna\nlives\n", "utf-8")
    assert gonie("evaluate", toy_run, path).refused("--tag-column")


def test_a_missing_model_is_refused(gonie: Gonie, toy: Path, tmp_path: Path) -> None:
    assert gonie("evaluate", tmp_path / "none", toy / "test.conll").refused("none")


def test_errors_are_written_to_a_file_by_descending_confidence(
    gonie: Gonie, toy_run: Path, tmp_path: Path
) -> None:
    gold = tmp_path / "gold.conll"
    gold.write_text(
        "Anna\tB-PER\nlives\tO\nin\tO\nSeoul\tB-PER\n.\tO\n\nit\tB-LOC\nrains\tO\n.\tO\n", "utf-8"
    )
    outcome = gonie("evaluate", toy_run, gold, "--errors", tmp_path / "e.tsv")
    assert outcome.code == 0, outcome.err
    header, *rows = [line.split("\t") for line in (tmp_path / "e.tsv").read_text("utf-8").splitlines()]
    found = [dict(zip(header, row, strict=True)) for row in rows]
    assert {(row["kind"], row["gold"], row["predicted"], row["text"], row["line"]) for row in found} == {
        ("wrong label", "PER", "LOC", "Seoul", "1"),
        ("false negative", "LOC", "", "it", "7"),
    }
    sure = [float(row["confidence"]) for row in found]
    assert sure == sorted(sure, reverse=True)
    assert 0.5 < sure[0] <= 1
    for words in ("wrong label", "Anna lives in [Seoul] .", "2 errors"):
        assert words in outcome.out, words


def test_an_unsupported_errors_format_is_refused_before_scoring(
    gonie: Gonie, toy_run: Path, tmp_path: Path
) -> None:
    outcome = gonie("evaluate", toy_run, tmp_path / "none.conll", "--errors", tmp_path / "e.html")
    assert outcome.refused(".tsv or .jsonl", "e.html")
    assert not (tmp_path / "e.html").exists()


OTHER_NAMES = "Anna\tB-person\nlives\tO\nin\tO\nSeoul\tB-location\n.\tO\n\nit\tB-product\nrains\tO\n.\tO\n"


@pytest.fixture
def other_names(tmp_path: Path) -> Path:
    path = tmp_path / "other.conll"
    path.write_text(OTHER_NAMES, "utf-8")
    return path


def test_a_file_with_other_label_names_is_refused_with_a_map(
    gonie: Gonie, toy_run: Path, other_names: Path
) -> None:
    """Scoring it would give 0.00 without a reason."""
    outcome = gonie("evaluate", toy_run, other_names)
    assert outcome.refused("Map them: --map wnut")


@pytest.mark.parametrize("rules", [["wnut"], ["person=PER", "location=LOC", "product=O"]])
def test_mapped_labels_are_scored(gonie: Gonie, toy_run: Path, other_names: Path, rules: list[str]) -> None:
    outcome = gonie("evaluate", toy_run, other_names, *(part for rule in rules for part in ("--map", rule)))
    assert outcome.code == 0, outcome.err
    assert "F1 100.00" in outcome.out
    assert "of the model, and of the file or its label map" in outcome.out
    assert "skipped 1 gold entity of the type product, which the map drops" in outcome.out


def test_other_names_of_the_model_than_those_of_a_shipped_map_are_shown(
    gonie: Gonie, toy_run: Path, other_names: Path
) -> None:
    text = other_names.read_text("utf-8").replace("B-person", "B-PS").replace("B-location", "B-LC")
    other_names.write_text(text.replace("B-product", "O"), "utf-8")
    outcome = gonie("evaluate", toy_run, other_names, "--map", "tta")
    assert "label map: PS → PER, LC → LOC (the names that the model has)" in outcome.out
    assert "F1 100.00" in outcome.out
    other_names.write_text(OTHER_NAMES, "utf-8")
    assert "label map:" not in gonie("evaluate", toy_run, other_names, "--map", "wnut").out


def test_types_that_only_the_file_has_are_left_out_and_counted(
    gonie: Gonie, toy_run: Path, other_names: Path
) -> None:
    outcome = gonie("evaluate", toy_run, other_names, "--map", "person=PER")
    assert outcome.code == 0, outcome.err
    assert "skipped 1 gold entity of the type location" in outcome.out
    assert "F1 100.00" in outcome.out, "predicted locations are no errors where the file has none"


def test_a_map_that_leaves_no_shared_type_is_refused(gonie: Gonie, toy_run: Path, other_names: Path) -> None:
    """All scores would be 0.00."""
    outcome = gonie("evaluate", toy_run, other_names, "--map", "person=O", "--map", "location=O")
    assert outcome.refused("share no type", "person, location, product", "--map wnut")


def test_the_label_map_of_the_recipe_applies_to_other_files(gonie: Gonie, toy: Path, tmp_path: Path) -> None:
    """A model trained with data.map is scored on files with the old names."""
    trained = gonie(
        "train", toy / "toy.toml", "--set", 'data.map={PER = "PERSON"}', "--out", tmp_path / "run"
    )
    assert trained.code == 0, trained.err
    outcome = gonie("evaluate", tmp_path / "run", toy / "test.conll")
    assert outcome.code == 0, outcome.err
    assert "F1 100.00" in outcome.out
    assert "PERSON" in outcome.out


def test_a_rule_for_a_label_that_the_file_does_not_have_is_refused(
    gonie: Gonie, toy_run: Path, other_names: Path
) -> None:
    """A misspelt rule would leave out the entities that it is meant for."""
    outcome = gonie("evaluate", toy_run, other_names, "--map", "persn=PER", "--map", "location=LOC")
    assert outcome.refused("a rule for persn, but the file's labels are person, location, product")
