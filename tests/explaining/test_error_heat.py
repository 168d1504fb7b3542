"""If these fail, a report explains an error with the wrong text, or takes minutes for a long review."""

from __future__ import annotations

from functools import partial
from typing import Any

from gonie.explaining import error_heat
from gonie.explaining.error_heat import ErrorHeat
from gonie.metrics.class_errors import ClassError
from gonie.metrics.errors import Kind
from gonie.tasks.classification.explanation import TextExplanations
from gonie.text.labelled_text import LabelledText


def error_heat_of(reader: Any, texts: list[LabelledText]) -> ErrorHeat:
    return ErrorHeat(partial(TextExplanations().explained, reader), texts)


def error(line: int, predicted: str | None) -> ClassError:
    return ClassError(0.9, Kind.WRONG_LABEL, "a", predicted, 0.1, "told by the report", "file.tsv", line)


def test_an_error_is_explained_for_the_predicted_label(reader: Any) -> None:
    texts = ("A good film.", "The plot is thin but the players are fine.")
    heat = error_heat_of(
        reader, [LabelledText(text, ("a",), (), "file.tsv", at) for at, text in enumerate(texts)]
    )
    shown = str(heat(error(1, "b")))
    assert "erasure" in shown
    assert "for b" in shown
    assert "players" in shown
    assert "told by the report" not in shown


def test_an_error_that_cannot_be_explained_gets_no_explanation(reader: Any) -> None:
    heat = error_heat_of(reader, [LabelledText("A good film.", ("a",), (), "file.tsv", 1)])
    assert heat(error(1, None)) is None
    assert heat(error(2, "b")) is None


def test_a_long_text_is_explained_by_attention(reader: Any) -> None:
    text = LabelledText("good " * (error_heat.LONGEST + 1), ("a",), (), "file.tsv", 1)
    assert "attention" in str(error_heat_of(reader, [text])(error(1, "b")))
