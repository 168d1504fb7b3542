"""Shades of words: the darkest word must be the one with the largest weight."""

from __future__ import annotations

from math import nan, sqrt

import pytest

from gonie.reports.explanation import TokenWeights
from gonie.reports.explanations.shades import is_share, sentence_shades, shades, strongest


def test_attention_over_sentences_is_drawn_as_in_yang_et_al() -> None:
    in_text, in_sentence = (0.64, 0.36), ((0.25, 0.75), (0.5, 0.5))
    words = tuple(tuple(p * q for q in row) for p, row in zip(in_text, in_sentence, strict=True))
    drawn = shades(TokenWeights("attention", "x", words, in_text))
    expected = [[sqrt(p) * q for q in row] for p, row in zip(in_text, in_sentence, strict=True)]
    greatest = max(max(row) for row in expected)
    for row, due in zip(drawn, expected, strict=True):
        assert row == pytest.approx([value / greatest for value in due])


def test_attention_over_one_sentence_is_drawn_by_its_shares() -> None:
    assert shades(TokenWeights("attention", "x", ((0.2, 0.8),), (1.0,))) == ((0.25, 1.0),)


def test_signed_weights_keep_their_signs_and_are_scaled_to_one() -> None:
    weights = TokenWeights("erasure", "x", ((-4.0, 1.0), (0.0, 2.0)), (-3.0, 2.0))
    assert shades(weights) == ((-1.0, 0.25), (0.0, 0.5))
    assert sentence_shades(weights) == (-1.0, pytest.approx(2 / 3))


def test_zero_shares_and_nan_weights_have_no_shade() -> None:
    assert shades(TokenWeights("attention", "x", ((0.0, 0.0), (1.0,)), (0.0, 1.0))) == ((0.0, 0.0), (1.0,))
    assert shades(TokenWeights("erasure", "x", ((nan, 2.0),), (nan,))) == ((0.0, 1.0),)
    assert shades(TokenWeights("erasure", "x", ((0.0,),), (0.0,))) == ((0.0,),)
    assert sentence_shades(TokenWeights("erasure", "x", ((nan,),), (nan,))) == (0.0,)


def test_the_strongest_words_come_first_regardless_of_sign() -> None:
    weights = TokenWeights("erasure", "x", ((0.5, -2.0), (0.0, 0.5)), (-1.5, 0.5))
    assert strongest(weights, 9) == [(0, 1), (0, 0), (1, 1)]
    assert strongest(weights, 1) == [(0, 1)]
    assert not is_share(weights)
