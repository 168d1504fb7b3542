"""If these break, answers are scored against the wrong pairs, or labels are scored as values."""

from __future__ import annotations

import pytest

from gonie.errors import InputError
from gonie.metrics.classes import ClassEvaluation
from gonie.tasks.pairs.answer import PairAnswer
from gonie.tasks.pairs.scoring import check_answers, score_pairs
from gonie.tasks.pairs.values import ValueEvaluation
from gonie.text.labelled_text import LabelledPair

LABELS = ("no", "yes")


def labelled(*gold: str) -> list[LabelledPair]:
    return [LabelledPair("a", "b", (label,), None, "f.tsv", at + 2) for at, label in enumerate(gold)]


def answer(label: str, chance: float) -> PairAnswer:
    other = "no" if label == "yes" else "yes"
    return PairAnswer("a", "b", label, chance, {label: chance, other: 1 - chance}, tokens=2)


def test_labels_are_scored_like_those_of_a_classifier() -> None:
    answers = [answer("yes", 0.9), answer("no", 0.8), answer("yes", 0.6)]
    found = score_pairs(labelled("yes", "no", "no"), answers, labels=LABELS, values=False, bootstrap=10)
    assert isinstance(found, ClassEvaluation)
    assert found.headline == ("accuracy", pytest.approx(2 / 3))
    (error,) = found.errors()
    assert (error.line, error.gold, error.predicted) == (4, "no", "yes")
    assert found.to_json()["auc"] == 1.0, "probabilities are under their labels"


def test_a_label_unseen_in_training_counts_as_an_error() -> None:
    found = score_pairs(labelled("maybe", "yes"), [answer("yes", 0.9)] * 2, labels=LABELS, values=False)
    assert found.headline == ("accuracy", 0.5)


def test_values_are_scored_by_correlation() -> None:
    pairs = [LabelledPair("a", "b", (), value) for value in (0.0, 1.0, 2.0)]
    answers = [PairAnswer("a", "b", value=value) for value in (1.0, 1.5, 2.0)]
    found = score_pairs(pairs, answers, labels=("value",), values=True)
    assert isinstance(found, ValueEvaluation)
    assert found.headline == ("pearson", pytest.approx(1.0))


@pytest.mark.parametrize("values", [True, False])
def test_the_wrong_kind_of_gold_answers_is_refused_with_its_file(values: bool) -> None:
    pairs = labelled("yes") if values else [LabelledPair("a", "b", (), 1.0, "f.tsv", 2)]
    own, other = ("values", "labels") if values else ("labels", "values")
    with pytest.raises(InputError, match=rf"f\.tsv: the pairs have {other}, but the model gives {own}"):
        check_answers(pairs, values=values)
    check_answers(pairs, values=not values)
