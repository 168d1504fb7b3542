"""If these break, the wrong word is named as what an answer hangs on."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from gonie.explain import answers
from gonie.explain.erased import without
from gonie.explain.erasure import erasure
from gonie.explain.text_answers import TextAnswer, TextAnswers
from gonie.text.labelled_text import LabelledText
from gonie.text.passages import Passage


def naive(reader: Any, passage: Passage, label: int) -> list[float]:
    """Texts with a word missing, one by one, and the log-odds of their probabilities."""

    def odds(text: Passage) -> float:
        (reading,) = reader.read([text])
        p = float(reader.probabilities(reading.scores[None])[0, label])
        return float(np.log(p / (1 - p)))

    tokens = sum(map(len, passage.sentences))
    return [odds(passage) - odds(without(passage, np.arange(tokens) != i)) for i in range(tokens)]


def test_it_is_what_the_answer_loses_without_the_word(reader: Any, texts: tuple[str, ...]) -> None:
    for text in texts:
        passage = reader.encoding.passages(LabelledText(text))
        found = erasure(TextAnswers(reader), TextAnswer(passage, 1))
        np.testing.assert_allclose(found, naive(reader, passage, 1), atol=1e-5)


def test_the_word_that_decides_is_found(make_reader: Any, texts: tuple[str, ...]) -> None:
    reader = make_reader("with n-grams")
    gram = reader.encoding.bag.vocabulary.id("\tthin")
    (bag,) = reader.model.head().scores.direct.values()
    bag.weight.data[gram, 2] += 50.0
    passage = reader.encoding.passages(LabelledText(texts[3]))
    weights = erasure(TextAnswers(reader), TextAnswer(passage, 2))
    assert passage.sentences[0].words[int(weights.argmax())] == "thin"


def test_a_long_text_is_read_a_part_at_a_time(make_reader: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(answers, "BLOCK", 64)
    reader = make_reader()
    passage = reader.encoding.passages(LabelledText("it is not good " * 8))
    weights = erasure(TextAnswers(reader), TextAnswer(passage, 0))
    assert len(weights) == 32
    assert reader.most <= 64 + 32
