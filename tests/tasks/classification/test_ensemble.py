"""Ensembles of classifiers: if these break, an ensemble is not the mean of its members."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from gonie.errors import InputError
from gonie.tasks.classification.classifier import TextClassifier
from gonie.tasks.classification.ensemble import combine_classifiers
from gonie.tasks.classification.load import load_text_bundle

TEXTS = ["good film", "the bad bad film", "the film", "good bad", ""]


@pytest.fixture(params=[False, True], ids=["one label", "several labels"])
def members(request: pytest.FixtureRequest, text_bundle: Any) -> list[TextClassifier]:
    """The same scores at three temperatures."""
    several = request.param
    return [load_text_bundle(text_bundle(temperature=t, multi_label=several)) for t in (0.5, 1.0, 3.0)]


def test_probabilities_are_the_means(members: list[TextClassifier]) -> None:
    answers = [list(model.pipe(TEXTS)) for model in members]
    for at, found in enumerate(combine_classifiers(members).pipe(TEXTS)):
        own = [given[at] for given in answers]
        for label, score in found.scores.items():
            assert score == pytest.approx(np.mean([each.scores[label] for each in own]))
        assert found.text == own[0].text
        assert found.tokens == own[0].tokens
        assert found.notes == own[0].notes
        assert found.entropies is not None
        assert found.entropies.total_entropy == pytest.approx(
            found.entropies.data_entropy + found.entropies.mutual_information
        )


@pytest.mark.parametrize("copies", [1, 3])
def test_one_classifier_and_copies_of_it_are_the_classifier(
    members: list[TextClassifier], copies: int
) -> None:
    for own in members:
        ensemble = combine_classifiers([own] * copies)
        for one, other in zip(own.pipe(TEXTS), ensemble.pipe(TEXTS), strict=True):
            assert (one.label, one.labels) == (other.label, other.labels)
            assert one.scores == pytest.approx(other.scores)
            assert other.entropies is not None
            assert other.entropies.mutual_information == pytest.approx(0.0, abs=1e-9)


def test_the_order_of_the_members_does_not_matter(members: list[TextClassifier]) -> None:
    sides = [combine_classifiers(own).pipe(TEXTS) for own in (members, members[::-1])]
    for one, other in zip(*sides, strict=True):
        assert one.label == other.label
        assert one.scores == pytest.approx(other.scores)
        assert one.entropies == pytest.approx(other.entropies)


def test_an_ensemble_is_called_like_a_classifier(members: list[TextClassifier]) -> None:
    told: list[tuple[int, int]] = []
    ensemble = combine_classifiers(members, lambda done, number: told.append((done, number)))
    assert ensemble("good film").label == "positive"
    assert told == [(1, 3), (2, 3), (3, 3)]
    ((answer, key),) = ensemble.pipe([("bad film", 7)], as_tuples=True)
    assert (answer.label, key) == ("negative", 7)
    assert repr(ensemble) == "<EnsembleClassifier(, members=3): 2 labels: negative, positive>"


def test_other_labels_are_refused_with_the_difference(text_bundle: Any) -> None:
    one, several = (load_text_bundle(text_bundle(multi_label=own)) for own in (False, True))
    with pytest.raises(InputError, match=r"same number of labels per text: .* differ in one, several"):
        combine_classifiers([one, several])
    other = load_text_bundle(text_bundle())
    other.encoding.labels = ("bad", "positive")
    with pytest.raises(InputError, match=r"same labels: .* differ in bad, negative"):
        combine_classifiers([one, other])
