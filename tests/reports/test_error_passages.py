"""Sentences with errors in a report: every error is marked and named."""

import re

import pytest

from gonie.metrics.mistakes import find_mistake
from gonie.metrics.spans import unit_spans
from gonie.reports.error_passages import kinds_of, passage, wrong_labels
from gonie.text.types import Sentence


def shown(words, gold, predicted, plain=False):
    mistake = find_mistake(Sentence(words=tuple(words)), gold, predicted)
    return passage(mistake, plain=plain)


def text_of(markup):
    return re.sub(r"<small>.*?</small>|<[^>]*>", "", markup)


@pytest.mark.parametrize(
    ("gold", "predicted", "labels"),
    [
        ([(0, 1, "PER")], [], ["PER · missed"]),
        ([], [(0, 1, "PER")], ["PER · spurious"]),
        ([(0, 1, "PER")], [(0, 1, "LOC")], ["PER · wrong type", "LOC · wrong type"]),
        ([(0, 2, "PER")], [(0, 1, "PER")], ["PER · wrong boundary", "PER · wrong boundary"]),
        ([(0, 1, "A"), (1, 2, "B")], [(0, 1, "A")], ["A", "B · missed", "A"]),
    ],
)
def test_each_kind_of_error_is_named(gold, predicted, labels):
    assert re.findall(r"<small>(.*?)</small>", shown(["x", "y"], gold, predicted)) == labels


def test_a_sentence_is_found_by_its_kinds_of_errors_and_wrong_labels():
    gold, predicted = (
        [(0, 1, "A"), (1, 3, "B"), (4, 5, "E")],
        [(0, 1, "C"), (1, 2, "B"), (3, 4, "D"), (4, 5, "E")],
    )
    mistake = find_mistake(Sentence(words=tuple("vwxyz")), gold, predicted)
    assert kinds_of(mistake) == ["spurious", "wrong boundary", "wrong type"]
    assert wrong_labels(mistake) == ["A", "B", "C", "D"]


def test_marks_have_the_colour_of_their_label():
    mistake = find_mistake(Sentence(words=("x", "y")), [(0, 1, "A"), (1, 2, "B")], [(0, 1, "A")])
    markup = passage(mistake, plain=False, colors={"A": "c4", "B": "c1"})
    assert re.findall(r'<mark class="([^"]*)"', markup) == ["right c4", "due c1", "right c4"]


def test_plain_tags_are_shown_only_for_wrong_tokens():
    markup = shown(["a", "b"], unit_spans(["DET", "NOUN"]), unit_spans(["DET", "VERB"]), plain=True)
    assert re.findall(r"<small>(.*?)</small>", markup) == ["NOUN → VERB"]
    assert text_of(markup) == "1 errora b"


def test_hostile_words_and_labels_are_escaped():
    markup = shown(["<script>alert(1)</script>"], [(0, 1, "<img src=x>")], [])
    assert "<script" not in markup
    assert "<img" not in markup
    assert "&lt;script&gt;" in markup


def test_the_sentence_is_shown_once_for_gold_and_once_for_predicted():
    markup = shown(["a", "b", "c", "d"], [(1, 3, "X")], [(2, 3, "X")])
    assert text_of(markup).count("a b c d") == 2


def test_long_sentences_are_shortened_around_complete_spans():
    words = [f"w{n}" for n in range(500)]
    markup = shown(words, [(100, 130, "X"), (400, 401, "Y")], [(129, 130, "X")])
    found = text_of(markup)
    assert "… w88 " in found
    assert "w100 " in found
    assert "w413" not in found
    assert found.endswith("…")
    assert "w250" not in found


def test_a_sentence_with_many_errors_is_shortened():
    words = ["w"] * 5000
    markup = shown(words, unit_spans(["A"] * 5000), unit_spans(["B"] * 5000), plain=True)
    assert markup.count("<mark") < 100


def test_korean_is_marked_as_korean():
    assert 'lang="ko"' in shown(["서울"], [(0, 1, "LOC")], [])
    assert "lang" not in shown(["Seoul"], [(0, 1, "LOC")], [])
