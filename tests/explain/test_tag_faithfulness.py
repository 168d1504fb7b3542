"""If these break, a tagger's explanations are called faithful where they are not."""

from __future__ import annotations

from pathlib import Path

import pytest

from gonie.explain.tag_faithfulness import tag_faithfulness
from gonie.explain.tags import explain_sentences
from gonie.tasks.load import load
from gonie.tasks.tagging.tagger import Tagger
from gonie.text.types import Sentence


def test_erasure_is_told_from_luck(toy_run: Path) -> None:
    tagger = load(toy_run)
    texts = ("we met Cleo and Bert .", "Anna lives in Lima .", "Oslo is far .", "it rains .")
    explanations = list(explain_sentences(tagger, [Sentence(tuple(text.split())) for text in texts]))
    told: list[int] = []
    by_erasure, by_luck = tag_faithfulness(tagger, explanations, progress=told.append)
    assert (by_erasure.method, by_luck.method) == ("erasure", "random")
    assert by_erasure.texts == told[-1] == sum(len(e.spans) for e in explanations)
    assert by_erasure.comprehensiveness > by_luck.comprehensiveness + 0.1
    assert by_erasure.sufficiency < by_luck.sufficiency - 0.1


def test_where_a_word_decides_its_tag_it_is_all_there_is_to_it(plain_tagger: Tagger) -> None:
    (explanation,) = explain_sentences(plain_tagger, [Sentence(("Gonie", "sleeps"))])
    by_erasure, _ = tag_faithfulness(plain_tagger, [explanation])
    whole = sum(span.probability for span in explanation.spans) / 2
    assert by_erasure.sufficiency == pytest.approx(0.0, abs=1e-6)
    assert by_erasure.comprehensiveness == pytest.approx(whole - 1 / 2, abs=1e-6), "an unknown word is either"
    assert tag_faithfulness(plain_tagger, []) == []
