"""Scoring pair models on files, with the given options or else those of training."""

from __future__ import annotations

from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from gonie.tasks.pairs.classifier import PairClassifier
from gonie.tasks.pairs.evaluation import PairEvaluator, PairFileScores
from gonie.tasks.pairs.load import load_pair_bundle


@pytest.fixture
def labels(pair_bundle: Any) -> PairClassifier:
    data = {"text_columns": ["p", "h"], "label_column": "l"}
    return load_pair_bundle(pair_bundle(recipe={"data": data}, max_tokens=3))


@pytest.fixture
def values(pair_bundle: Any) -> PairClassifier:
    data = {"text_columns": ["p", "h"], "value_column": "v"}
    return load_pair_bundle(pair_bundle(values=True, recipe={"data": data}))


def scored(model: PairClassifier, path: Path, **options: str) -> PairFileScores:
    return PairEvaluator().score(model, path, folder=path.parent, options={"format": "auto", **options})


def test_a_file_is_scored_as_the_options_say(labels: PairClassifier, tmp_path: Path) -> None:
    path = tmp_path / "gold.data"
    path.write_text(
        '{"p": "good", "h": "good", "l": "same", "m": "other"}\n'
        '{"p": "good", "h": "bad", "l": "other", "m": "other"}\n'
    )
    found = scored(labels, path)
    assert found.evaluation.headline == ("accuracy", 1.0)
    assert [pair.second for pair in found.examples] == ["good", "bad"]
    assert scored(labels, path, label_column="m", format="jsonl").evaluation.headline == ("accuracy", 0.5)


def test_scores_and_page_speak_of_pairs(labels: PairClassifier, tmp_path: Path) -> None:
    path = tmp_path / "gold.tsv"
    path.write_text("p\th\tl\ngood\tgood\tsame\ngood\tbad\tsame\n")
    found, console = scored(labels, path), Console(width=120, file=StringIO(), record=True)
    found.show(console)
    assert "(2 pairs)" in console.export_text()
    assert "accuracy of pairs" in found.page(title="t", curve=(), details={}, explain=None)


def test_gold_values_are_read_from_the_named_column(values: PairClassifier, tmp_path: Path) -> None:
    """For models that predict values, --label-column names the column of the gold values."""
    path = tmp_path / "gold.tsv"
    path.write_text("p\th\tv\tw\ngood\tgood\t5\t0\ngood\tbad\t0\t5\nfilm\tfilm\t2.5\t2.5\n")
    assert scored(values, path).evaluation.headline == ("pearson", pytest.approx(1.0, abs=1e-4))
    turned = scored(values, path, label_column="w").evaluation
    assert turned.headline == ("pearson", pytest.approx(-1.0, abs=1e-4))


def test_notes_name_the_columns_and_count_unlabelled_and_cut_pairs(
    labels: PairClassifier, tmp_path: Path
) -> None:
    path = tmp_path / "gold.tsv"
    path.write_text("p\th\tl\ngood good good bad\tgood\tsame\na\tb\t-\n")
    told = "\n".join(scored(labels, path).notes)
    assert "p and h" in told
    assert "1 pairs without a gold label" in told or "1 pair without a gold label" in told
    assert "cut to 3 tokens" in told


def test_errors_have_both_texts_and_are_sorted_by_confidence(labels: PairClassifier, tmp_path: Path) -> None:
    path = tmp_path / "gold.csv"
    path.write_text('p,h,l\ngood,"good, good",other\nfilm,good,same\ngood,bad,other\n')
    errors = scored(labels, path).errors()
    assert [(each.text, each.text_pair, each.gold, each.predicted, each.line) for each in errors] == [
        ("good", "good, good", "other", "same", 2),
        ("film", "good", "same", "other", 3),
    ]
    assert errors[0].confidence > errors[1].confidence
    assert isinstance(errors[0], PairEvaluator.error)
    cells = PairEvaluator().error_cells()(errors[0])
    assert [cell.plain for cell in cells] == ["other", "same", "good | good, good"]


def test_errors_of_values_list_every_pair_worst_first(values: PairClassifier, tmp_path: Path) -> None:
    path = tmp_path / "gold.tsv"
    path.write_text("p\th\tv\ngood\tgood\t5\ngood\tbad\t4\nfilm\tfilm\t2.5\n")
    errors = scored(values, path).errors()
    assert [each.line for each in errors] == [3, 2, 4]
    assert errors[0].gold == "4.00"


@pytest.mark.parametrize("kind", ["labels", "values"])
def test_the_page_shows_the_errors_and_runs_no_scripts(
    kind: str, request: pytest.FixtureRequest, tmp_path: Path, parse: Any
) -> None:
    path = tmp_path / "gold.tsv"
    gold = {"labels": ("l", "other", "same"), "values": ("v", "0", "5")}[kind]
    path.write_text(f"p\th\t{gold[0]}\ngood <script>\tgood\t{gold[1]}\ngood\tgood\t{gold[2]}\n")
    scores = scored(request.getfixturevalue(kind), path)
    page = parse(scores.page(title="Scores of pairs", curve=(), details={"seed": 1}, explain=None))
    assert page.runs_and_loads_nothing()
    text = " ".join(page.text)
    assert "Scores of pairs" in text
    assert "good <script>" in text


def test_scores_are_shown(labels: PairClassifier, values: PairClassifier, tmp_path: Path) -> None:
    from rich.console import Console

    shown = []
    for model, name, rows in ((labels, "l", ("same", "other")), (values, "v", ("5", "0"))):
        path = tmp_path / "gold.tsv"
        path.write_text(f"p\th\t{name}\ngood\tgood\t{rows[0]}\ngood\tbad\t{rows[1]}\n")
        console = Console(width=200, force_terminal=False)
        with console.capture() as capture:
            scored(model, path).show(console)
        shown.append(capture.get())
    assert shown[0].startswith("Accuracy 100.00")
    assert shown[1].startswith("Pearson 100.00")
    for words in ("Spearman", "mean absolute error 0.090", "root mean squared error 0.090", "(2 pairs)"):
        assert words in shown[1], words
