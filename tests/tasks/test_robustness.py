"""The curve of noise: what is drawn, sampled, skipped and compared."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import pytest

from gonie.errors import InputError
from gonie.tasks.classification.scoring import PredictedTexts
from gonie.tasks.robustness import noise_curve
from gonie.text.labelled_text import LabelledText
from gonie.text.noise_levels import DRAWS, LEVELS, TYPOS
from gonie.text.types import Classification

LABELS = ("no", "yes")


def answers(texts: Iterable[LabelledText]) -> Iterator[Classification]:
    """Answer yes to texts with the word good."""
    for text in texts:
        label = "yes" if "good" in text.text.split() else "no"
        scores = {each: float(each == label) for each in LABELS}
        yield Classification(text.text, label, 1.0, scores, (label,))


def predicted(*texts: tuple[str, str]) -> PredictedTexts:
    gold = [LabelledText(text, (label,)) for text, label in texts]
    return PredictedTexts(
        gold=gold, answers=list(answers(gold)), labels=LABELS, multi_label=False, classify=answers
    )


def test_noise_lowers_the_score_and_repeats() -> None:
    file = predicted(*[("a good film", "yes"), ("a bad film", "no")] * 20)
    curve = noise_curve([file], limit=0)
    scores = {(each.kind, each.rate): each for each in curve.scores}
    assert scores["none", 0.0].score == 1.0
    assert len(scores[TYPOS, 0.4].scores) == DRAWS
    assert scores[TYPOS, 0.4].score < scores[TYPOS, 0.05].score <= 1.0
    assert scores["upper", 1.0].score == 0.5
    assert scores["upper", 1.0].change == -0.5
    assert scores["spaces-lost", 1.0].score == 0.5
    assert ("spaces-lost", 0.0) not in scores, "texts of classifiers have no words to join"
    assert curve == noise_curve([file], limit=0)


def test_noise_that_changes_nothing_is_skipped() -> None:
    curve = noise_curve([predicted(("good", "yes"), ("bad", "no"))], limit=0)
    assert "lower" in curve.skipped
    assert "spaces-lost" in curve.skipped
    assert not {"lower", "spaces-lost"} & {each.kind for each in curve.scores}


def test_a_limit_samples_all_files() -> None:
    files = [predicted(*[("a good film", "yes")] * 30), predicted(*[("a bad film", "no")] * 10)]
    curve = noise_curve(files, limit=8)
    assert (curve.examples, curve.total) == (8, 40)
    with pytest.raises(InputError, match="negative limit"):
        noise_curve(files, limit=-1)


def test_progress_counts_every_run() -> None:
    told: list[tuple[int, int]] = []
    noise_curve([predicted(("good", "yes"))], limit=0, progress=lambda done, runs: told.append((done, runs)))
    runs = sum(level.draws for level in LEVELS)
    assert told == [(done, runs) for done in range(runs)]
