"""If these break, a page shows words as looked at that were not."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gonie.explain.attention import attention, uniform_attention
from gonie.explain.flat import flatten
from gonie.tasks.classification.reading import Reading


def reading(*words: list[float], sentences: list[float]) -> Reading:
    rows = tuple(np.array(row, dtype=np.float32) for row in words)
    return Reading(np.zeros(2, np.float32), rows, np.array(sentences, dtype=np.float32))


def test_a_word_has_its_share_of_its_sentences_share() -> None:
    weights = attention(reading([0.5, 0.5], [1.0], sentences=[0.25, 0.75]), "pos")
    assert (weights.method, weights.label) == ("attention", "pos")
    assert weights.words == ((0.125, 0.125), (0.75,))
    assert weights.sentences == (0.25, 0.75)


def test_a_flat_model_shows_its_attention_as_it_is() -> None:
    weights = attention(reading([0.25, 0.5, 0.25], sentences=[1.0]), "neg")
    assert weights.words == ((0.25, 0.5, 0.25),)


@given(st.lists(st.integers(1, 9), min_size=1, max_size=6))
def test_uniform_attention_prefers_nothing(lengths: list[int]) -> None:
    rows = [np.full(length, 1 / length) for length in lengths]
    even = reading(*(row.tolist() for row in rows), sentences=[1 / len(lengths)] * len(lengths))
    np.testing.assert_allclose(uniform_attention(lengths), flatten(attention(even, "x")), rtol=1e-5)
    assert uniform_attention(lengths).sum() == pytest.approx(1.0)
