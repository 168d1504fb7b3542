"""Groups of examples: their order, their scores, and differences between independent groups."""

from __future__ import annotations

import numpy as np
import pytest

from gonie.errors import InputError
from gonie.metrics.evaluation import evaluate
from gonie.metrics.grouped import MOST_GROUPS, NO_VALUE, GroupScore, gap, group_by
from gonie.metrics.novelty import SeenMentions
from gonie.text.schemes import IOB2
from gonie.text.types import Sentence


def test_numbers_are_sorted_by_size_and_missing_values_come_last() -> None:
    metas = [{"y": value} if value else {} for value in ("10", "web", "", "9", "-1.5", "news", "10", "nan")]
    found = group_by(metas, "y")
    assert list(found) == ["-1.5", "9", "10", "nan", "news", "web", NO_VALUE]
    assert found["10"] == [0, 6]
    assert sorted(at for places in found.values() for at in places) == list(range(8))


def test_too_many_values_are_refused() -> None:
    with pytest.raises(InputError, match="id has 201 different values"):
        group_by([{"id": str(at)} for at in range(MOST_GROUPS + 1)], "id")


def test_recall_of_seen_and_unseen_mentions_adds_up() -> None:
    gold = [Sentence(("Anna", "met", "Bert", "Kim"), ("B-PER", "O", "B-PER", "I-PER"))] * 2
    tags = [("B-PER", "O", "O", "O"), ("B-PER", "O", "B-PER", "I-PER")]
    seen = SeenMentions.from_types({"Anna": ["PER"]})
    score = GroupScore.of(evaluate(gold, tags, scheme=IOB2, seen=seen), 2)
    assert (score.measure, score.examples) == ("f1", 2)
    assert score.seen is not None
    assert score.unseen is not None
    assert (score.seen.gold, score.seen.correct, score.unseen.gold, score.unseen.correct) == (2, 2, 2, 1)
    record = score.to_json()
    assert (record["unseen_share"], record["unseen"]["recall"], record["examples"]) == (0.5, 0.5, 2)
    assert record["f1"] == score.score
    plain = GroupScore.of(evaluate(gold, tags, scheme=IOB2, bootstrap=0), 2)
    assert plain.unseen_share is None
    assert plain.to_json() == {"examples": 2, "f1": score.score, "interval": None}


def test_the_interval_of_a_gap_is_that_of_two_resampled_files() -> None:
    """MOVER gives nearly the interval of a bootstrap of both files."""
    chance = np.random.default_rng(0)
    sides = [chance.random(400) < 0.8, chance.random(300) < 0.65]
    draws = [
        side[chance.integers(len(side), size=(4000, len(side)))].mean(axis=1) for side in sides
    ]  # (R,) each
    groups = []
    for side, own in zip(sides, draws, strict=True):
        low, high = np.percentile(own, [2.5, 97.5])
        groups.append(GroupScore(len(side), "accuracy", float(side.mean()), (float(low), float(high))))
    found = gap(*groups)
    assert found.score == pytest.approx(sides[0].mean() - sides[1].mean())
    assert found.interval == pytest.approx(np.percentile(draws[0] - draws[1], [2.5, 97.5]), abs=0.01)


def test_a_gap_without_intervals_has_none() -> None:
    one = GroupScore(1, "f1", 0.5, None)
    assert gap(one, one).to_json() == {"score": 0.0, "interval": None}
