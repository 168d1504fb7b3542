"""Evaluation of classifiers: if these break, scores in JSON, terminal and report are wrong."""

from __future__ import annotations

import json
import random
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics import accuracy_score, f1_score, precision_score, recall_score, roc_auc_score

from gonie.errors import InputError
from gonie.metrics.classes import ClassEvaluation, evaluate_classes
from gonie.metrics.counts import Counts

ABC = ["a", "b", "c"]


@dataclass(frozen=True)
class Text:
    """A text as read from a file."""

    text: str
    labels: tuple[str, ...]
    path: str = "t.tsv"
    line: int = 1


def texts(labels: Any) -> list[Text]:
    return [Text(f"text {n}", tuple(each), line=n + 1) for n, each in enumerate(labels)]


def sure_of(predicted: Any, labels: list[str] = ABC) -> Any:
    """Return a probability of 0.8 for each predicted label and 0.1 for the others."""
    table = np.array([[0.8 if label in each else 0.1 for label in labels] for each in predicted])
    return table.reshape(len(predicted), len(labels))


def evaluation(gold: Any, predicted: Any, **options: Any) -> ClassEvaluation:
    return evaluate_classes(texts(gold), predicted, sure_of(predicted), ABC, **{"bootstrap": 0, **options})


def test_one_text_has_no_intervals() -> None:
    result = evaluation("a", "a", lengths=[3], bootstrap=10)
    assert (result.intervals, result.lengths[0].interval) == (None, None)
    assert evaluation("ab", "ab", bootstrap=10).interval("accuracy") == pytest.approx((0.342, 1.0), abs=1e-3)


def test_scores_of_a_small_example() -> None:
    result = evaluation("aaab", "aabb", lengths=[1, 2, 9, 9])
    assert result.headline == ("accuracy", 0.75)
    assert result.scores.types == {"a": Counts(3, 2, 2), "b": Counts(1, 2, 1)}
    data: dict[str, Any] = result.to_json()
    assert data["f1"] == data["precision"] == data["recall"] == data["accuracy"] == 0.75
    assert data["macro"]["f1"] == pytest.approx((0.8 + 2 / 3) / 2)
    assert data["types"]["a"]["recall"] == pytest.approx(2 / 3)
    assert data["confusion"]["pairs"][0] == {"gold": "a", "predicted": "a", "count": 2}
    assert (data["texts"], data["texts_with_errors"], data["several_labels"]) == (4, 1, False)
    assert [score["f1"] for score in data["lengths"]] == [1.0, 0.5]
    assert data["calibration"]["ece"] == pytest.approx(0.05)
    assert (data["auc"], data["relation_f1"], data["intervals"]) == (None, None, None)
    assert [(error.gold, error.predicted, error.line) for error in result.errors()] == [("a", "b", 3)]


ONE_LABEL = st.lists(st.tuples(st.sampled_from(ABC), st.sampled_from(ABC)), min_size=1, max_size=30)


@settings(deadline=None, max_examples=60)
@given(ONE_LABEL)
def test_single_label_scores_equal_scikit_learn(pairs: list[tuple[str, str]]) -> None:
    gold, predicted = zip(*pairs, strict=True)
    result = evaluation(gold, predicted)
    assert result.accuracy == pytest.approx(accuracy_score(gold, predicted))
    assert result.scores.micro.f1 == pytest.approx(f1_score(gold, predicted, average="micro"))
    for name, score in {"f1": f1_score, "precision": precision_score, "recall": recall_score}.items():
        expected = score(gold, predicted, average="macro", zero_division=0)
        assert getattr(result.scores.macro, name) == pytest.approx(expected)


SEVERAL = st.lists(
    st.tuples(st.frozensets(st.sampled_from(ABC)), st.frozensets(st.sampled_from(ABC))),
    min_size=1,
    max_size=30,
)


@settings(deadline=None, max_examples=60)
@given(SEVERAL)
def test_multi_label_scores_equal_scikit_learn(
    pairs: list[tuple[frozenset[str], frozenset[str]]],
) -> None:
    gold, predicted = zip(*pairs, strict=True)
    result = evaluation(gold, predicted, multi_label=True)
    one, other = (np.array([[label in each for label in ABC] for each in side]) for side in (gold, predicted))
    assert result.headline == ("f1", pytest.approx(f1_score(one, other, average="micro", zero_division=0)))
    assert result.accuracy == pytest.approx(accuracy_score(one, other))  # of whole texts
    met = [at for at, label in enumerate(ABC) if label in result.scores.types]
    if met:
        expected = f1_score(one, other, labels=met, average="macro", zero_division=0)
        assert result.scores.macro.f1 == pytest.approx(expected)
    assert result.confusion is None


def test_two_labels_have_an_area_with_its_interval() -> None:
    generator = np.random.default_rng(0)
    chance = np.round(generator.random(60), 2)
    gold = ["yes" if generator.random() < p else "no" for p in chance]
    predicted = [("yes",) if p > 0.5 else ("no",) for p in chance]
    table = np.stack([1 - chance, chance], axis=1)
    result = evaluate_classes(
        texts((label,) for label in gold), predicted, table, ["no", "yes"], bootstrap=100
    )
    assert result.auc == pytest.approx(roc_auc_score(gold, chance))
    low, high = result.interval("auc") or (1.0, 0.0)
    assert low < (result.auc or 0.0) < high


def test_an_area_requires_exactly_two_gold_labels() -> None:
    table = [[0.4, 0.6], [0.7, 0.3]]
    for gold in ([("b",), ("b",)], [("a",), ("new",)]):
        result = evaluate_classes(texts(gold), [("b",), ("a",)], table, ["a", "b"], bootstrap=10)
        assert (result.auc, result.interval("auc")) == (None, None)


def test_intervals_equal_those_of_rescored_resamples() -> None:
    chance = random.Random(1)
    gold = [chance.choice(ABC) for _ in range(30)]
    predicted = [label if chance.random() < 0.7 else chance.choice(ABC) for label in gold]
    result = evaluation(gold, predicted, bootstrap=50, seed=6)
    drawn = np.random.default_rng(6).integers(0, 30, size=(50, 30))
    again = [evaluation([gold[n] for n in row], [predicted[n] for n in row]) for row in drawn]
    middle = [2.5, 97.5]
    assert result.interval("accuracy") == pytest.approx(np.percentile([r.accuracy for r in again], middle))
    macro = np.percentile([r.scores.macro.f1 for r in again], middle)
    assert result.interval("macro_f1") == pytest.approx(macro)


def test_multi_label_accuracy_has_its_own_interval() -> None:
    gold = [("a",), ("a", "b"), (), ("c",)] * 5
    result = evaluation(gold, [("a",), ("a",), (), ("c",)] * 5, multi_label=True, bootstrap=200)
    low, high = result.interval("accuracy") or (1.0, 0.0)
    assert low < result.accuracy == 0.75 < high
    assert result.interval("accuracy") != result.interval("f1")


def test_the_headline_of_relations_is_the_official_score() -> None:
    labels = ["Cause-Effect(e1,e2)", "Cause-Effect(e2,e1)", "Other"]
    gold, predicted = [labels[0], labels[1], labels[2]], [labels[0], labels[0], labels[0]]
    result = evaluate_classes(
        texts((label,) for label in gold),
        [(label,) for label in predicted],
        sure_of([[label] for label in predicted], labels),
        labels,
        bootstrap=20,
    )
    assert result.headline == ("relation_f1", pytest.approx(2 / 5))  # gold 2, predicted 3, correct 1
    assert result.interval("relation_f1") is not None
    data: dict[str, Any] = result.to_json()
    assert data["relation_f1"] == data[data["headline"]] == data["relations"]["f1"]
    assert data["accuracy"] == pytest.approx(1 / 3)


def test_json_is_valid_and_scores_are_fractions() -> None:
    for multi_label in (False, True):
        result = evaluation("abca", "abcc", multi_label=multi_label, bootstrap=30, lengths=[1, 2, 3, 40])
        data = json.loads(json.dumps(result.to_json(), allow_nan=False))
        low, high = data["intervals"]["f1"]
        assert 0 <= low <= data[data["headline"]] <= high <= 1
        assert set(data["intervals"]["types"]) == set(data["types"]) == set(ABC)


def test_unknown_gold_labels_are_listed_and_count_as_missed() -> None:
    result = evaluation([["a"], ["new"], ["new"]], "aab")
    assert result.unknown_labels == {"new": 2}
    assert result.scores.types["new"] == Counts(2, 0, 0)
    assert result.accuracy == pytest.approx(1 / 3)
    assert result.calibration.nll == pytest.approx(-np.log(0.8))  # of the only known gold label
    assert (result.unknown, result.to_json()["calibration"]["nll_left_out"]) == (2, 2)  # type: ignore[index]
    multi_label = evaluation([["a", "new"]], ["a"], multi_label=True)
    assert (multi_label.accuracy, multi_label.scores.micro.f1) == (0.0, pytest.approx(2 / 3))


@pytest.mark.parametrize(
    ("gold", "predicted", "multi_label", "headline"),
    [
        ("a", "a", False, ("accuracy", 1.0)),  # one text
        ("a", "b", False, ("accuracy", 0.0)),
        ("aaa", "aaa", False, ("accuracy", 1.0)),  # one class
        ([()], [()], True, ("f1", 0.0)),  # no labels at all: 0, as in conlleval
        ([()], ["a"], True, ("f1", 0.0)),
        (["aa"], ["a"], True, ("f1", 1.0)),  # a repeated label counts once
    ],
)
def test_degenerate_files_are_scored(gold: Any, predicted: Any, multi_label: bool, headline: Any) -> None:
    result = evaluation(gold, predicted, multi_label=multi_label, bootstrap=10, lengths=[3] * len(gold))
    assert result.headline == headline
    json.dumps(result.to_json(), allow_nan=False)


def test_predicting_no_labels_is_right_if_there_are_none() -> None:
    assert evaluation([()], [()], multi_label=True).accuracy == 1.0


TABLE = [[0.5, 0.3, 0.2]]


@pytest.mark.parametrize(
    ("gold", "predicted", "table", "labels", "said"),
    [
        ([], [], np.zeros((0, 3)), ABC, "no texts to score"),
        ("aa", "a", TABLE, ABC, "labels for 2 texts, got labels for 1"),
        ("a", "a", TABLE, ["a", "b"], r"shape \(1 texts, 2 labels\), got \(1, 3\)"),
        ("a", "a", TABLE, ["a", "b", "b"], "labels must be distinct"),
        ("a", "a", np.zeros((1, 0)), [], "labels must be distinct"),
        ("a", "a", [[2.5, 0.3, -1.0]], ABC, "between 0 and 1"),
        ("a", "a", [[np.nan, 0.3, 0.2]], ABC, "between 0 and 1"),
        ([()], "a", TABLE, ABC, "t.tsv:1: expected one gold label per text, got 0: none"),
        (["ab"], "a", TABLE, ABC, "got 2: a, b"),
        ("a", "x", TABLE, ABC, "one label of the model"),
        ("a", ["ab"], TABLE, ABC, "one label of the model"),
    ],
)
def test_input_that_cannot_be_scored_is_refused_with_a_message(
    gold: Any, predicted: Any, table: Any, labels: list[str], said: str
) -> None:
    with pytest.raises(InputError, match=said):
        evaluate_classes(texts(gold), predicted, table, labels)


def test_a_wrong_number_of_lengths_is_refused() -> None:
    with pytest.raises(InputError, match="lengths of 2 texts, got lengths of 1"):
        evaluation("ab", "ab", lengths=[3])


def test_the_same_seed_gives_the_same_intervals() -> None:
    one, two = (evaluation("abc", "abb", bootstrap=30, seed=4).to_json() for _ in range(2))
    assert one == two
