"""Answers about spans that are not tagged, in words."""

from __future__ import annotations

import pytest

from gonie.reports.explanation import AskedSpan, TokenWeights
from gonie.reports.explanations.asked import (
    asked_answer,
    chance,
    named_words,
    opposing,
    supporting,
    tags_text,
)

WORDS = ("Samsung", "managers", "met", "in", "Seoul", ".")
WEIGHTS = TokenWeights("erasure", "ORG", ((2.5, -1.2, -0.3, 0.001, float("nan"), -0.5),), (0.5,))


def test_the_answer_names_what_the_model_prefers() -> None:
    asked = AskedSpan(("O",), 0.97, 6.95, predicted=False)
    assert asked_answer("Samsung", "ORG", 0.03, asked) == (
        "‘Samsung’ is not tagged ORG: probability 0.030. The model prefers O (0.970). "
        "Their log-odds differ by 6.95."
    )
    assert asked_answer("Samsung", "ORG", 0.97, AskedSpan(("S-ORG",), 0.97, 0.0, predicted=True)) == (
        "‘Samsung’ is tagged ORG: probability 0.970."
    )


def test_words_are_named_by_weight_and_noise_is_left_out() -> None:
    assert opposing(WORDS, WEIGHTS) == [("managers", -1.2), (".", -0.5), ("met", -0.3)]
    assert supporting(WORDS, WEIGHTS) == [("Samsung", 2.5)]
    assert named_words(WORDS, WEIGHTS) == [
        "Against it, by erasure: managers -1.20, . -0.50, met -0.30",
        "For it, by erasure: Samsung +2.50",
    ]
    assert named_words(("a",), TokenWeights("erasure", "X", ((0.0,),), (0.0,))) == []


@pytest.mark.parametrize(
    ("probability", "due"), [(0.0, "0.000"), (0.0005, "0.001"), (0.00012, "1.2e-04"), (1.0, "1.000")]
)
def test_small_probabilities_are_not_rounded_to_zero(probability: float, due: str) -> None:
    assert chance(probability) == due


def test_equal_tags_are_named_once() -> None:
    assert tags_text(("O", "O")) == "O"
    assert tags_text(("B-PER", "E-PER")) == "B-PER E-PER"
