"""Scoring classifiers on files, with the given options or else those of training."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import gonie
from gonie.runtime.bundle import write_bundle
from gonie.tasks.classification.evaluation import TextEvaluator


@pytest.fixture
def classifier(text_bundle: Any, tmp_path: Path) -> Any:
    write_bundle(tmp_path / "b", text_bundle(recipe={"data": {"text_column": "t", "label_column": "l"}}))
    return gonie.load(tmp_path / "b")


def test_a_file_name_as_a_text_is_a_warning(
    classifier: Any, tmp_path: Path, recwarn: pytest.WarningsRecorder
) -> None:
    """Only for a single text: a stream of texts would need a look at the disk for each."""
    path = tmp_path / "inbox.csv"
    path.touch()
    list(classifier.pipe([str(path)]))
    assert not recwarn.list
    with pytest.warns(UserWarning, match=r"inbox\.csv' is a file"):
        classifier(str(path))


def test_a_file_is_scored_as_the_options_say(classifier: Any, tmp_path: Path) -> None:
    path = tmp_path / "gold.data"
    path.write_text(
        '{"t": "good", "l": "positive", "m": "negative"}\n{"t": "bad", "l": "negative", "m": "negative"}\n'
    )

    def score(**options: str) -> float:
        found = TextEvaluator().score(classifier, path, folder=tmp_path, options=options)
        assert [text.text for text in found.examples] == ["good", "bad"]
        return found.evaluation.accuracy

    assert score() == 1.0
    assert score(label_column="m", format="jsonl") == 0.5


def test_the_page_and_the_errors_come_from_the_evaluation(classifier: Any, tmp_path: Path) -> None:
    path = tmp_path / "gold.tsv"
    path.write_text("t\tl\ngood film\tnegative\nbad\tnegative\n")
    scores = TextEvaluator().score(classifier, path, folder=tmp_path, options={})
    (error,) = scores.errors()
    assert isinstance(error, TextEvaluator.error)
    assert TextEvaluator().error_cells()(error)[2].plain == "good film"
    page = scores.page(title="Scores of opinions", curve=(), details={}, explain=None)
    assert "Scores of opinions" in page
