"""Answers: one a row, in order, the same that the model gives one by one; what it cannot take is rejected."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

from gonie.bulk.answers import load_answering
from gonie.bulk.job import BulkJob
from gonie.bulk.rows import BadRow, InputRow
from gonie.formats.results import tag_result, text_result
from gonie.runtime.bundle import write_bundle

TEXTS = ["Anna lives in Seoul .", "", "it rains . we met Cleo Kim and Dora ."] * 40


def test_each_row_has_the_tags_of_its_text(tagging: BulkJob) -> None:
    rows = [InputRow("f", number, text, {"id": number}) for number, text in enumerate(TEXTS)]
    tagger = tagging.tagger()
    answers = list(load_answering(tagging)(rows, _none))
    for row, answer in zip(rows, answers, strict=True):
        found = tagger(row.text)
        assert answer.record == {"file": "f", "row": row.number, "id": row.number, **tag_result(found)}
        assert (answer.text, answer.tokens, answer.noted) == (row.text, len(found.tokens), False)


def test_each_row_has_what_else_its_sentences_may_be(tagging: BulkJob) -> None:
    job = replace(tagging, nbest=2)
    texts = ("Anna lives in Seoul .", "", "It rains. We met Cleo Kim.")
    rows = [InputRow("f", number, text) for number, text in enumerate(texts)]
    first, empty, two = (answer.record["nbest"] for answer in load_answering(job)(rows, _none))
    assert (len(first), len(empty), len(two)) == (1, 0, 2), "a list for each sentence"
    for row, found in zip(rows, (first, empty, two), strict=True):
        assert found == tag_result(job.tagger()(row.text))["nbest"]


def test_tokens_that_are_given_stay(tagging: BulkJob) -> None:
    (answer,) = load_answering(replace(tagging, tokenised=True))([InputRow("f", 1, "Anna's  home .")], _none)
    assert [token["text"] for token in answer.record["tokens"]] == ["Anna's", "home", "."]


def test_each_row_has_its_label_beside_what_was_given(classifying: BulkJob) -> None:
    given = {"id": "x", "body": "good film", "row": "its own", "label": "gold"}
    rows = [InputRow("f", 3, "good film", given), InputRow("f", 4, "bad")]
    first, second = load_answering(classifying)(rows, _none)
    classifier = classifying.classifier()
    wanted = text_result(classifier("good film"), given, several=False)
    assert first.record == {**wanted, "file": "f", "row": 3}
    assert list(first.record)[:3] == ["file", "row", "id"]
    assert (second.record["label"], second.text) == ("negative", "bad")


def test_marks_that_do_not_fit_are_the_rows_fault(text_bundle: Callable[..., Any], tmp_path: Path) -> None:
    write_bundle(tmp_path / "b", text_bundle(recipe={"data": {"marks": ["e1"]}}))
    bad: list[BadRow] = []
    answer = load_answering(BulkJob(task="classify", model=tmp_path / "b"))
    rows = [
        InputRow("f", 1, "<e1>good</e1>"),
        InputRow("f", 2, "<e1>never ends"),
        InputRow("f", 3, "<e1>bad</e1>"),
    ]
    assert [found.record["row"] for found in answer(rows, bad.append)] == [1, 3]
    assert [(row.row, row.content) for row in bad] == [(2, "<e1>never ends")]


def _none(row: BadRow) -> None:
    raise AssertionError(row)
