"""Lists of classification errors: complete, and the most confident errors first."""

from __future__ import annotations

import csv
import io
from dataclasses import dataclass

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gonie.metrics.class_errors import ClassError, list_class_errors, wrong_pairs
from gonie.metrics.errors import Kind
from gonie.reports.error_list import error_writer

COLUMNS = {"a": 0, "b": 1, "c": 2}
LABELS = st.lists(st.sampled_from("abcd"), unique=True)


@dataclass(frozen=True)
class Text:
    """A text as read from a file."""

    text: str
    labels: tuple[str, ...]
    path: str = "reviews.tsv"
    line: int = 0


def errors(*texts: tuple[str, str, list[float]]) -> list[ClassError]:
    """Return the errors of (gold, predicted, probabilities); each letter is a label."""
    return list_class_errors(
        [Text(f"text {n}", tuple(gold), line=n) for n, (gold, _, _) in enumerate(texts)],
        [tuple(predicted) for _, predicted, _ in texts],
        np.array([chances for _, _, chances in texts]),
        COLUMNS,
    )


def test_errors_are_sorted_by_confidence_and_then_by_line() -> None:
    found = errors(
        ("a", "b", [0.4, 0.6, 0.0]),
        ("a", "a", [1.0, 0.0, 0.0]),
        ("c", "b", [0.0, 0.9, 0.1]),
        ("b", "a", [0.6, 0.4, 0.0]),
    )
    assert [(error.gold, error.predicted, error.line) for error in found] == [
        ("c", "b", 2),
        ("a", "b", 0),
        ("b", "a", 3),
    ]
    assert [error.confidence for error in found] == [0.9, 0.6, 0.6]
    assert [error.gold_probability for error in found] == [0.1, 0.4, 0.4]
    assert {error.kind for error in found} == {Kind.WRONG_LABEL}
    assert found[0].text == "text 2"


def test_each_missing_or_extra_label_is_an_error() -> None:
    found = errors(("ab", "", [0.3, 0.2, 0.0]), ("", "c", [0.0, 0.0, 0.75]))
    assert [(error.kind, error.gold, error.predicted) for error in found] == [
        (Kind.FALSE_NEGATIVE, "b", None),
        (Kind.FALSE_POSITIVE, None, "c"),
        (Kind.FALSE_NEGATIVE, "a", None),
    ]
    assert [error.confidence for error in found] == pytest.approx([0.8, 0.75, 0.7])
    assert found[1].gold_probability is None


def test_an_unknown_gold_label_is_missed_with_confidence_1() -> None:
    (one,) = errors(("d", "a", [0.7, 0.3, 0.0]))
    assert (one.kind, one.confidence, one.gold_probability) == (Kind.WRONG_LABEL, 0.7, None)
    (other,) = errors(("d", "", [0.3, 0.2, 0.1]))
    assert (other.kind, other.confidence, other.gold_probability) == (Kind.FALSE_NEGATIVE, 1.0, None)


@given(LABELS, LABELS)
def test_every_wrong_label_is_listed_once(gold: list[str], predicted: list[str]) -> None:
    pairs = wrong_pairs(gold, predicted)
    assert sorted(one for one, _ in pairs if one) == sorted(set(gold) - set(predicted))
    assert sorted(other for _, other in pairs if other) == sorted(set(predicted) - set(gold))
    if len(gold) == len(predicted) == 1:
        assert len(pairs) == (gold != predicted)


def test_errors_are_written_as_a_table() -> None:
    found = errors(("a", "b", [0.25, 0.75, 0.0]), ("a", "", [0.25, 0.0, 0.0]))
    rows = list(
        csv.DictReader(io.StringIO("".join(error_writer("e.tsv", ClassError)(found))), delimiter="\t")
    )
    assert [(row["gold"], row["predicted"], row["gold_probability"]) for row in rows] == [
        ("a", "b", "0.25"),
        ("a", "", "0.25"),
    ]
    assert rows[0]["text"] == "text 0"
