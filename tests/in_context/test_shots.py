"""Tests retrieved shots against a BM25 that is written out, and that labels are covered."""

from __future__ import annotations

from collections import Counter
from math import log1p

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gonie.in_context.examples import Example
from gonie.in_context.shots import GRAMS, K1, B, ShotFinder, covering

TEXTS = st.lists(st.text(alphabet="ab c가나", min_size=1, max_size=12), min_size=1, max_size=8)


def reference(texts: list[str], text: str) -> list[float]:
    """Return the BM25 of each text by its definition."""
    bags = [Counter(GRAMS.extract(each)) for each in texts]
    mean = max(sum(bag.total() for bag in bags) / len(bags), 1.0)
    scores = []
    for bag in bags:
        score = 0.0
        for gram in set(GRAMS.extract(text)):
            frequency = sum(gram in each for each in bags)
            rarity = log1p((len(bags) - frequency + 0.5) / (frequency + 0.5))
            slower = K1 * (1 - B + B * bag.total() / mean)
            score += rarity * bag[gram] * (K1 + 1) / (bag[gram] + slower)
        scores.append(score)
    return scores


@settings(max_examples=60)
@given(TEXTS, st.text(alphabet="ab c가나", max_size=12))
def test_similarities_are_those_of_the_definition(texts: list[str], text: str) -> None:
    finder = ShotFinder([Example(each) for each in texts])
    np.testing.assert_allclose(finder.similarities(text), reference(texts, text), atol=1e-9)


def test_the_nearest_is_last_and_never_the_text_itself() -> None:
    examples = [
        Example("a dog barks"),
        Example("삼성전자가 올랐다"),
        Example("cats sleep"),
        Example("a dog ran"),
    ]
    finder = ShotFinder(examples)
    assert [each.text for each in finder.nearest("a dog barks", 1)] == ["a dog ran"]
    assert finder.nearest("삼성전자는 내렸다", 2)[-1] is examples[1]  # in spite of other particles
    assert finder.nearest("a dog", 0) == []
    assert len(finder.nearest("a dog", 9)) == 4
    assert ShotFinder([]).nearest("a dog", 3) == []


def test_equal_texts_are_ranked_by_their_order() -> None:
    examples = [
        Example("same", labels=("a",)),
        Example("same", labels=("b",)),
        Example("same", labels=("c",)),
    ]
    assert [each.labels for each in ShotFinder(examples).nearest("same thing", 2)] == [("b",), ("a",)]


LABELS = st.lists(st.frozensets(st.sampled_from("abcd"), max_size=2), max_size=10)


@given(LABELS, st.integers(0, 8))
def test_all_labels_are_covered_if_there_is_room(labels: list[frozenset[str]], number: int) -> None:
    examples = [Example(str(at), labels=tuple(sorted(own))) for at, own in enumerate(labels)]
    known = set().union(*labels) if labels else set()
    chosen = covering(examples, number, known)
    assert len(chosen) == min(number, len(examples))
    assert len({each.text for each in chosen}) == len(chosen)
    if number >= len(known):
        assert known == set().union(*(each.names() for each in chosen)) if chosen else not known


def test_the_nearest_are_kept_when_labels_leave_room() -> None:
    """Two labels need at most two of four places, so the two nearest are there whatever their labels."""
    examples = [Example(str(at), labels=(label,)) for at, label in enumerate("aaaaab")]
    assert [each.text for each in covering(examples, 4, {"a", "b"})] == ["0", "1", "2", "5"]


@pytest.mark.parametrize("number", [1, 3])
def test_labels_without_an_example_are_not_waited_for(number: int) -> None:
    finder = ShotFinder(
        [Example("x", labels=("a",)), Example("y", labels=("a",)), Example("z", labels=("b",))]
    )
    assert len(finder.nearest("x", number, ("a", "b", "never"))) == min(number, 2)
