"""Uncertainty of sentences: if this breaks, foreign texts are not recognised."""

from __future__ import annotations

import numpy as np
import pytest

from gonie.errors import InputError
from gonie.tasks.tagging.tagger import Tagger
from gonie.tasks.tagging.uncertainty import By, sentence_uncertainties, separate
from gonie.text.types import Sentence

KNOWN = [Sentence(words=words) for words in (("George", "sleeps"), ("New", "York"), ("George",))]
FOREIGN = [Sentence(words=words) for words in (("York", "New"), ("York", "York", "New"), ("York",))]


@pytest.mark.parametrize("temperature", [1.0, 2.0])
def test_scores_are_those_of_the_n_best_taggings(tagger: Tagger, temperature: float) -> None:
    """The probability of the best tagging, found in another way."""
    hot = tagger.with_temperature(temperature)
    taggings = hot.with_nbest(1).tag_sentences(KNOWN + FOREIGN)
    best = np.array([tagging.candidates[0].probability for tagging in taggings])
    sizes = np.array([len(tagging.tags) for tagging in taggings])
    found = {
        by: sentence_uncertainties(hot, KNOWN + FOREIGN, by=by) for by in ("sequence", "average", "lowest")
    }
    assert found["sequence"] == pytest.approx(1 - best)
    assert found["average"] == pytest.approx(1 - best ** (1 / sizes))
    assert found["lowest"] == pytest.approx([1 - min(tagging.scores) for tagging in taggings])


@pytest.mark.parametrize("by", ["lowest", "sequence", "average"])
def test_sentences_that_break_the_rules_are_told_apart(tagger: Tagger, by: By) -> None:
    found = separate(tagger, [*KNOWN, Sentence(words=())], FOREIGN, by=by)
    assert found.auroc > 0.8
    assert (found.inside, found.outside) == (3, 3), "without the empty sentence"


def test_an_empty_sentence_is_certain(tagger: Tagger) -> None:
    for by in ("lowest", "sequence"):
        assert sentence_uncertainties(tagger, [Sentence(words=())], by=by).tolist() == [0.0]


def test_an_unknown_score_is_refused(tagger: Tagger) -> None:
    with pytest.raises(InputError, match="unknown score of uncertainty: 'luck'"):
        sentence_uncertainties(tagger, KNOWN, by="luck")  # type: ignore[arg-type]
