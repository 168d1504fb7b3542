"""A batch, a sentence at a time: each is fed as if it had come alone."""

from __future__ import annotations

from typing import Any

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from gonie.data.corpus import collate
from gonie.data.encoding import Encoding, count
from gonie.data.normalize import Normalization
from gonie.data.schemes import PLAIN
from gonie.data.spelling import Spelling
from gonie.data.types import Sentence
from gonie.runtime.alone import one_by_one
from gonie.runtime.session import feed

NAMES = ("lengths", "mask", "words", "spelling.ids", "spelling.rows")
WORDS = st.lists(st.sampled_from(["Anna", "lives", "in", "Seoul", "2026", "삼성"]), min_size=1, max_size=6)


def encoding() -> Encoding:
    sentence = Sentence(words=("Anna", "lives", "in", "Seoul", "2026", "삼성"), tags=("O",) * 6)
    normalization, extractors = Normalization(lowercase=True, digits=True), [Spelling()]
    counts = count([sentence], normalization=normalization, jamo=False, extractors=extractors)
    return Encoding.fit(
        counts,
        scheme=PLAIN,
        normalization=normalization,
        jamo=False,
        extractors=extractors,
        min_count=1,
        min_feature_count=1,
    )


@settings(deadline=None, max_examples=40)
@given(st.lists(WORDS, min_size=1, max_size=4))
def test_each_is_fed_as_if_it_came_alone(sentences: list[list[str]]) -> None:
    known = encoding()

    def fed(words: list[list[str]]) -> dict[str, Any]:
        corpus = known.encode([Sentence(words=tuple(own)) for own in words])
        batch = collate(corpus, np.arange(len(words)))
        return {name: feed(batch, name) for name in NAMES}

    together = fed(sentences)
    lengths = np.array([len(words) for words in sentences])
    found = list(one_by_one(together, lengths, together["mask"].shape[1]))
    assert len(found) == len(sentences)
    for words, own in zip(sentences, found, strict=True):
        for name, array in fed([words]).items():
            np.testing.assert_array_equal(own[name], array, err_msg=name)


def test_what_is_known_of_forms_is_shared() -> None:
    spelled = np.ones((3, 2), dtype=np.float32)
    fed = {"spelled": spelled, "forms": np.array([[0, 1], [2, 0]])}
    first, second = one_by_one(fed, np.array([2, 1]), 2)
    assert first["spelled"] is spelled
    assert second["forms"].tolist() == [[2]]
