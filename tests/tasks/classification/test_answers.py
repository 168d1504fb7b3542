"""Classifiers as teachers: temperature, labels, and the arrays of their answers."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from gonie.errors import InputError
from gonie.tasks.classification.answers import (
    CHANCES,
    AnsweredTexts,
    HardTextTeacher,
    LabelAnswer,
    LabelConversion,
    pack,
    with_temperature,
)
from gonie.tasks.teacher import CONFIDENCES, Answers, AnswerSettings
from gonie.text.labelled_text import LabelledText
from gonie.text.types import Classification


@pytest.mark.parametrize("several", [False, True])
@pytest.mark.parametrize("temperature", [0.5, 1.0, 4.0])
def test_a_temperature_divides_scores(several: bool, temperature: float) -> None:
    scores = np.random.default_rng(1).normal(scale=3, size=(5, 4))

    def chances(scores: Any) -> Any:
        if several:
            return 1 / (1 + np.exp(-scores))
        weights = np.exp(scores)
        return weights / weights.sum(1, keepdims=True)

    found = with_temperature(chances(scores), temperature, several)
    np.testing.assert_allclose(found, chances(scores / temperature), atol=1e-12)


class Guessing:
    """Labels texts by their first word."""

    labels = ("good", "bad", "dull")
    multi_label = False

    def pipe(self, texts: Any) -> Any:
        for text in texts:
            label = text.text.split()[0]
            yield Classification(text=text.text, label=label, score=1.0, scores={}, labels=(label,))


TEXTS = [LabelledText(text, (), (), "", 1) for text in ("good one", "dull two", "bad three")]


def test_hard_labels_are_certain_and_renamed() -> None:
    teacher = HardTextTeacher(Guessing(), name="guess", digest="1")
    student = ("negative", "positive")
    rules = {"good": "positive", "bad": "negative", "dull": "negative"}
    conversion = LabelConversion(teacher, student, False, rules)
    arrays = pack(conversion, TEXTS, list(teacher.answers(TEXTS)))
    assert arrays["chances"].reshape(3, 2).tolist() == [[0, 1], [1, 0], [1, 0]]
    assert arrays[CONFIDENCES].tolist() == [1, 1, 1]


def test_the_confidence_is_that_of_the_least_certain_decision() -> None:
    class Several(Guessing):
        multi_label = True

    answer = LabelAnswer(np.array([0.9, 0.4, 0.0]))
    teacher = HardTextTeacher(Several(), name="", digest="")
    conversion = LabelConversion(teacher, Several.labels, True, {})
    assert pack(conversion, TEXTS[:1], [answer])[CONFIDENCES] == pytest.approx([0.6])
    one = LabelConversion(HardTextTeacher(Guessing(), name="", digest=""), Guessing.labels, False, {})
    assert pack(one, TEXTS[:1], [LabelAnswer(np.array([0.5, 0.3, 0.2]))])[CONFIDENCES] == pytest.approx([0.5])


@pytest.mark.parametrize(
    ("labels", "several", "rules", "told"),
    [
        (("good", "bad"), False, {}, "does not have these labels of the teacher: dull"),
        (("good", "bad", "dull", "odd"), False, {}, "does not know these labels of the training file: odd"),
        (("good", "bad"), False, {"dull": "O"}, "each text has exactly one label"),
        (("good", "bad", "dull"), True, {}, r"one label for each text.*data\.multi_label=false"),
    ],
)
def test_a_teacher_of_other_labels_is_refused(labels: Any, several: bool, rules: Any, told: str) -> None:
    teacher = HardTextTeacher(Guessing(), name="", digest="")
    with pytest.raises(InputError, match=told):
        LabelConversion(teacher, labels, several, rules)


class Corpus:
    """Three encoded texts, without their arrays."""

    lengths = sizes = heights = np.ones(3, dtype=np.int64)
    tokens = 3

    def batch(self, rows: Any) -> dict[str, Any]:
        return {"rows": rows}


def test_batches_have_the_labels_of_the_student_in_its_order() -> None:
    facts = {
        "settings": AnswerSettings(files=()).to_json(),
        **dict.fromkeys(("task", "teacher", "examples", "digest"), ""),
        **{"labels": ["a", "b"], "complete": True, "total": 3},
    }
    arrays = {
        CONFIDENCES: np.ones(3, dtype=np.float32),
        "chances": np.array([0.25, 0.75, 0.5, 0.5, 1, 0], dtype=np.float16),
    }
    examples = AnsweredTexts(Corpus(), Answers(Path(), arrays, facts), ["b", "a"])  # type: ignore[arg-type]
    batch = examples.batch(np.array([2, 0]))
    assert batch[CHANCES].tolist() == [[0, 1], [0.75, 0.25]]
    assert batch["rows"].tolist() == [2, 0]
