"""If these break, token offsets point into the wrong text, or a value belongs to another pair."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from gonie.tasks.pairs.encoding import PairEncoding, ValueScale, sentences_of
from gonie.text.labelled_text import LabelledPair
from gonie.text.passages import BLANK
from gonie.text.report import Report

TEXT = st.text("ab .,<e1>\n\t한\U0001f600", max_size=20)


@pytest.fixture(scope="module")
def labels(pair_bundle: Any) -> PairEncoding:
    found: PairEncoding = pair_bundle().encoding
    return found


@pytest.fixture(scope="module")
def values(pair_bundle: Any) -> PairEncoding:
    found: PairEncoding = pair_bundle(values=True).encoding
    return found


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(first=TEXT, second=TEXT)
def test_token_offsets_of_both_texts_match_the_joined_text(
    labels: PairEncoding, first: str, second: str
) -> None:
    """An explanation highlights the characters at these offsets."""
    pair = LabelledPair(first, second, ("same",), None, "f.tsv", 3)
    passage = labels.passage(pair)
    own = [labels.texts.passages.tokenizer(text) for text in (first, second)]
    assert len(passage.sentences) == 2
    for sentence, cut in zip(passage.sentences, own, strict=True):
        words = [word for each in cut for word in each.words]
        assert list(sentence.words) == (words or [BLANK])
        assert (sentence.path, sentence.line) == ("f.tsv", 3)
        if words:
            assert [pair.text[start:end] for start, end in sentence.offsets()] == words
    seam = len(first)
    assert all(end <= seam for end in passage.sentences[0].ends)
    assert all(start > seam for start in passage.sentences[1].starts)
    assert (passage.running, passage.labels, passage.path, passage.line) == (
        pair.text,
        ("same",),
        "f.tsv",
        3,
    )


def test_each_text_is_cut_at_the_limit_and_noted(pair_bundle: Any) -> None:
    encoding = pair_bundle(max_tokens=2).encoding
    report = Report()
    passage = encoding.passage(LabelledPair("good good bad", "bad"), report)
    assert [sentence.words for sentence in passage.sentences] == [("good", "good"), ("bad",)]
    assert sum(report.noticed.values()) == 1
    encoding.passage(LabelledPair("good good bad", "bad bad bad"), report)
    assert sum(report.noticed.values()) == 3


def test_a_batch_says_which_rows_are_the_texts_of_a_pair(labels: PairEncoding) -> None:
    pairs = [LabelledPair("good film", "bad", ("same",)), LabelledPair("the", "the film bad", ("other",))]
    batch = labels.encode(pairs).batch(np.array([1, 0]))
    ids = {word: labels.texts.words.word_id(word) for word in ("good", "film", "bad", "the")}
    read = [
        [[int(word) for word in batch["words"][row][batch["mask"][row]]] for row in rows]
        for rows in batch["places"]
    ]
    assert read == [
        [[ids["the"]], [ids["the"], ids["film"], ids["bad"]]],
        [[ids["good"], ids["film"]], [ids["bad"]]],
    ]
    assert batch["labels"].tolist() == [0, 1]


def test_values_are_stored_as_the_labels_of_a_batch(values: PairEncoding) -> None:
    corpus = values.encode(
        [LabelledPair("a", "b", (), 2.5), LabelledPair("c", "d"), LabelledPair("e", "f", (), 0)]
    )
    assert corpus.labels.dtype == np.float32
    assert corpus.batch(np.array([2, 0]))["labels"].tolist() == [0.0, 2.5]
    assert np.isnan(corpus.batch(np.array([1]))["labels"]).all(), "an unknown value is no zero"


@pytest.mark.parametrize("kind", ["labels", "values"])
def test_an_encoding_is_restored_from_its_json(kind: str, request: pytest.FixtureRequest) -> None:
    encoding: PairEncoding = request.getfixturevalue(kind)
    again = PairEncoding.from_json(json.loads(json.dumps(encoding.to_json())))
    assert again.scale == encoding.scale
    pair = [LabelledPair("good film", "bad", ("same",), 1.0)]
    for name, array in encoding.encode(pair).batch(np.array([0])).items():
        assert np.array_equal(again.encode(pair).batch(np.array([0]))[name], array), name


def test_sentences_of_pairs_are_returned_in_order(labels: PairEncoding) -> None:
    found = sentences_of(labels.passage(pair) for pair in (LabelledPair("a", "b"), LabelledPair("c", "d")))
    assert [sentence.words for sentence in found] == [("a",), ("b",), ("c",), ("d",)]


def test_share_is_the_position_of_a_value_on_the_scale() -> None:
    assert [ValueScale(1.0, 5.0).share(value) for value in (1.0, 2.0, 5.0)] == [0.0, 0.25, 1.0]
