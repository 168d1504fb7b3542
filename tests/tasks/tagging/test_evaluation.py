"""Scoring taggers on files, with the given options or else those of training."""

from __future__ import annotations

from pathlib import Path

import pytest

import gonie
from gonie.tasks.tagging.evaluation import TagEvaluator
from gonie.tasks.tagging.tagger import Tagger


@pytest.fixture
def tagger(toy_run: Path) -> Tagger:
    found = gonie.load(toy_run)
    assert isinstance(found, Tagger)
    return found


def test_a_file_is_scored_as_the_options_say(tagger: Tagger, toy_run: Path, tmp_path: Path) -> None:
    path = tmp_path / "gold.conll"
    path.write_text("Anna B-PER B-LOC\nlives O O\nin O O\nSeoul B-LOC B-LOC\n. O O\n", "utf-8")

    def score(**options: object) -> float:
        scores = TagEvaluator().score(tagger, path, folder=toy_run, options=options)
        assert scores.notes
        assert scores.evaluation.novelty is not None, "the run has the mentions of training"
        return scores.evaluation.headline[1]

    assert score() == 0.5
    assert score(tag_column="1") == 1.0
    assert score(tag_column="1", bias=["-99"]) == 0.0


def test_the_page_and_the_errors_come_from_the_evaluation(tagger: Tagger, toy: Path, tmp_path: Path) -> None:
    scores = TagEvaluator().score(tagger, toy / "test.conll", folder=tmp_path, options={"bias": ["-99"]})
    assert scores.evaluation.novelty is None
    errors = scores.errors()
    assert errors
    assert {type(error) for error in errors} == {TagEvaluator.error}
    assert len(TagEvaluator().error_cells()(errors[0])) == 3
    assert "Scores of toy" in scores.page(title="Scores of toy", curve=(), details={}, explain=None)
