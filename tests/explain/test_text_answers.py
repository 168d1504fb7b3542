"""If this breaks, a text with a word taken out is judged by another probability than is shown."""

from __future__ import annotations

from typing import Any

import numpy as np

from gonie.explain.erased import without
from gonie.explain.odds import to_probabilities
from gonie.explain.text_answers import TextAnswer, TextAnswers
from gonie.text.labelled_text import LabelledText


def test_the_answer_is_the_calibrated_probability_of_what_is_left(
    reader: Any, texts: tuple[str, ...]
) -> None:
    chance = np.random.default_rng(0)
    questions = []
    for number, text in enumerate(texts):
        answer = TextAnswer(
            reader.encoding.passages(LabelledText(text)), number % len(reader.encoding.labels)
        )
        questions += [(answer, chance.random(answer.tokens) < share) for share in (0.0, 0.5, 1.0)]
    found = to_probabilities(TextAnswers(reader).log_odds(iter(questions)))
    for (answer, keep), probability in zip(questions, found, strict=True):
        (reading,) = reader.read([without(answer.passage, keep)])
        np.testing.assert_allclose(
            probability, reader.probabilities(reading.scores[None])[0, answer.label], atol=1e-6
        )
    assert TextAnswers(reader).log_odds([]).shape == (0,)
