"""If these break, a text is explained by the words of another, or for an answer that it did not get."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import numpy as np
import pytest

from gonie.errors import InputError
from gonie.explain.erasure import erasure
from gonie.explain.flat import flatten
from gonie.explain.text_answers import TextAnswer, TextAnswers
from gonie.explain.texts import METHODS, explain_texts
from gonie.explain.torch.text_gradients import text_gradients
from gonie.reports.explanation import Method
from gonie.text.labelled_text import LabelledText

ALL: tuple[Method, ...] = tuple(METHODS)


def test_each_text_has_the_models_answer_and_a_weight_for_each_word(
    reader: Any, texts: tuple[str, ...]
) -> None:
    found = list(explain_texts(reader, [*texts, ""], methods=ALL, model=reader.model))
    assert [explanation.text for explanation in found] == [*texts, ""]
    for explanation in found:
        (reading,) = reader.read([explanation.passage])
        chances = reader.probabilities(reading.scores[None])[0]
        assert list(explanation.probabilities.values()) == pytest.approx(chances.tolist())
        assert explanation.label == max(explanation.probabilities, key=explanation.probabilities.__getitem__)
        assert tuple(weights.method for weights in explanation.weights) == ALL
        for weights in explanation.weights:
            assert weights.label == explanation.label
            assert [len(row) for row in weights.words] == [len(s) for s in explanation.passage.sentences]
            assert [sum(row) for row in weights.words] == pytest.approx(weights.sentences, abs=1e-5)


def test_the_methods_are_told_the_answer_and_the_temperature(reader: Any, texts: tuple[str, ...]) -> None:
    (explanation,) = explain_texts(reader, texts[:1], methods=ALL, model=reader.model, label="b")
    assert {weights.label for weights in explanation.weights} == {"b"}
    by_attention, by_gradients, by_erasure = map(flatten, explanation.weights)
    assert by_attention.sum() == pytest.approx(1.0, abs=1e-5)
    wanted = text_gradients(
        reader.model, reader.encoding, explanation.passage, 1, temperature=reader.temperature
    )
    np.testing.assert_allclose(by_gradients, wanted.words)
    assert explanation.weights[1].gap == wanted.gap
    np.testing.assert_allclose(by_erasure, erasure(TextAnswers(reader), TextAnswer(explanation.passage, 1)))


def test_gold_labels_stay_with_their_texts(make_reader: Any) -> None:
    texts = [LabelledText("good", ("a",)), LabelledText("bad", ("b",)), LabelledText("it")]
    assert [e.gold for e in explain_texts(make_reader(), texts, methods=())] == [("a",), ("b",), ()]


def test_texts_are_explained_as_they_come(make_reader: Any) -> None:
    stream = iter(["good", "bad", "it"])
    next(explain_texts(make_reader(), stream))
    assert list(stream) == ["bad", "it"]


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        ({"label": "z"}, "a label among a, b, c, got 'z'"),
        ({"methods": ["saliency"]}, "methods among attention, integrated gradients, erasure, got 'saliency'"),
        ({"methods": ["integrated gradients"]}, "the weights of a training run"),
    ],
)
def test_what_cannot_be_explained_is_refused_at_once(make_reader: Any, asked: dict, message: str) -> None:
    with pytest.raises(InputError, match=message):
        explain_texts(make_reader(), [], **asked)


def test_it_needs_no_torch_but_for_gradients() -> None:
    modules = ", ".join(
        f"gonie.explain.{name}" for name in ("texts", "text_faithfulness", "tag_faithfulness")
    )
    code = f"import sys, {modules}; sys.exit('torch' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_of_several_labels_a_text_has_those_that_are_more_likely_than_not(
    make_reader: Any, texts: tuple[str, ...]
) -> None:
    found = list(explain_texts(make_reader("several labels"), texts, methods=()))
    for each in found:
        assert set(each.given) == {label for label, chance in each.probabilities.items() if chance >= 0.5}
    assert {len(each.given) for each in found} != {1}
    (one,) = explain_texts(make_reader(), texts[:1], methods=())
    assert one.given == (one.label,)
