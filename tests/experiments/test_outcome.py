"""Tests result.json: written results are read back, and damaged files are refused."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from gonie.errors import ResumeError
from gonie.experiments.outcome import RESULT, CellScores, Failure, Point, read_outcome, write_outcome
from gonie.metrics.significance import Tally

SCORES = CellScores(
    metric="F1",
    dev=0.75,
    train=None,
    test=0.5,
    best_epoch=2,
    seconds=1.5,
    curve=(Point(1, 0.5, None), Point(2, 0.75, 0.9)),
    tally=Tally("abc", np.array([[1, 2, 0], [3, 3, 2]])),
)


def test_written_scores_are_read_back(tmp_path: Path) -> None:
    write_outcome(tmp_path, SCORES)
    found = read_outcome(tmp_path)
    assert isinstance(found, CellScores)
    assert found.to_json() == SCORES.to_json()
    assert found.curve == SCORES.curve
    assert found.tally.counts.tolist() == [[1, 2, 0], [3, 3, 2]]


def test_a_tally_without_sentences_has_no_rows() -> None:
    nothing = {"data": "", "gold": [], "predicted": [], "correct": []}
    empty = CellScores.from_json({**SCORES.to_json(), "tally": nothing})
    assert empty.tally.counts.shape == (0, 3)


def test_a_failure_keeps_its_message(tmp_path: Path) -> None:
    write_outcome(tmp_path, Failure("손실이 nan"))
    assert read_outcome(tmp_path) == Failure("손실이 nan")


def test_a_run_without_a_result_has_no_outcome(tmp_path: Path) -> None:
    assert read_outcome(tmp_path) is None


@pytest.mark.parametrize("text", ["", "{", "[]", "{}", '{"metric": "F1"}', "3"])
def test_a_damaged_result_is_refused_with_advice(tmp_path: Path, text: str) -> None:
    (tmp_path / RESULT).write_text(text, "utf-8")
    with pytest.raises(ResumeError, match="Delete it to train that run again"):
        read_outcome(tmp_path)
