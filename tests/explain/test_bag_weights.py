"""If these break, what an n-gram says is shown on a word that it is not part of."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from gonie.explain.bag_weights import spread
from gonie.features.ngrams import NGrams
from gonie.text.labelled_text import LabelledText
from gonie.text.passages import By, Passage, Passages
from gonie.text.tokenizers import EnglishTokenizer
from gonie.text.types import Span

GRAMS = NGrams(chars=(1, 4), words=(1, 2))


def naive(weights: list[float], places: list[tuple[int, int]], passage: Passage) -> list[float]:
    tokens = [place for sentence in passage.sentences for place in sentence.offsets()]
    found = [0.0] * len(tokens)
    for weight, place in zip(weights, places, strict=True):
        own = [i for i, token in enumerate(tokens) if set(range(*token)) & set(range(*place))]
        for i in own:
            found[i] += weight / len(own)
    return found


@settings(deadline=None)
@given(st.text("ab ,.Aİ한", max_size=25), st.sampled_from(["text", "sentence"]), st.integers(0, 5))
def test_each_n_gram_is_shared_by_the_tokens_it_has_characters_of(text: str, by: By, most: int) -> None:
    passage = Passages(tokenizer=EnglishTokenizer(), by=by, max_tokens=most)(LabelledText(text))
    places = GRAMS.places(passage.running)
    weights = np.random.default_rng(0).normal(size=len(places))
    found = spread(weights, np.array(places, dtype=np.int64).reshape(-1, 2), passage)
    np.testing.assert_allclose(found, naive(weights.tolist(), places, passage), atol=1e-9)


def test_a_mark_has_no_characters_and_so_no_n_grams() -> None:
    passage = Passages(tokenizer=EnglishTokenizer())(
        LabelledText("a big shop", marks=(Span(2, 5, "e1", "big"),))
    )
    found = spread(np.array([1.0]), np.array([[0, 10]]), passage)
    assert passage.sentences[0].words == ("a", "<e1>", "big", "</e1>", "shop")
    np.testing.assert_allclose(found, [1 / 3, 0, 1 / 3, 0, 1 / 3])
