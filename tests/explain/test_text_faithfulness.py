"""If these break, the figures under an explanation belong to another method or another answer."""

from __future__ import annotations

from typing import Any

import pytest

from gonie.explain.faithfulness import Case, faithfulness
from gonie.explain.flat import flatten
from gonie.explain.text_answers import TextAnswer, TextAnswers
from gonie.explain.text_faithfulness import text_faithfulness
from gonie.explain.texts import explain_texts


def test_every_method_is_judged_beside_both_controls(reader: Any, texts: tuple[str, ...]) -> None:
    explanations = list(explain_texts(reader, texts, methods=("erasure", "attention"), label="b"))
    told: list[int] = []
    found = text_faithfulness(reader, explanations, draws=2, progress=told.append)
    assert [row.method for row in found] == ["erasure", "attention", "uniform attention", "random"]
    assert told == [1, 2, 3, 4]
    cases = [Case(TextAnswer(e.passage, 1), {"erasure": flatten(e.weights[0])}) for e in explanations]
    (alone, _) = faithfulness(TextAnswers(reader), cases)
    assert found[0].comprehensiveness == pytest.approx(alone.comprehensiveness)
    assert found[0].sufficiency == pytest.approx(alone.sufficiency)
