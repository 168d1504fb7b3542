"""Sentences with errors: if these break, the report hides the worst sentences."""

import pytest

from gonie.metrics.mistakes import find_mistake, worst
from gonie.text.types import Sentence

SENTENCE = Sentence(words=("a", "b", "c", "d"), path="dev.conll", line=7)


def test_a_correct_sentence_is_no_mistake():
    assert find_mistake(SENTENCE, [(0, 1, "X")], [(0, 1, "X")]) is None


def test_a_wrong_type_is_one_error_and_a_wrong_boundary_two():
    assert find_mistake(SENTENCE, [(0, 1, "X")], [(0, 1, "Y")]).errors == 1
    assert find_mistake(SENTENCE, [(0, 1, "X")], [(0, 2, "X")]).errors == 2
    assert find_mistake(SENTENCE, [(0, 1, "X")], []).errors == 1


def test_confident_errors_weigh_more():
    mistake = find_mistake(SENTENCE, [(0, 2, "X")], [(3, 4, "X")], [0.5, 0.7, 0.1, 0.9])
    assert mistake.weight == pytest.approx(0.6 + 0.9)
    assert (mistake.path, mistake.line) == ("dev.conll", 7)


def test_worst_sentences_come_first_and_ties_keep_their_order():
    light = find_mistake(SENTENCE, [(0, 1, "X")], [])
    heavy = find_mistake(SENTENCE, [(0, 1, "X"), (2, 3, "X")], [])
    later = find_mistake(SENTENCE, [(3, 4, "X"), (2, 3, "Y")], [])
    assert worst([light, heavy, later], 2) == [heavy, later]


def test_spaces_follow_the_original_text():
    text = Sentence(words=("삼성", "은", "크다"), text="삼성은 크다", starts=(0, 2, 4), ends=(2, 3, 6))
    assert find_mistake(text, [(0, 1, "X")], []).spaces == (False, True, False)
    assert find_mistake(SENTENCE, [(0, 1, "X")], []).spaces == (True, True, True, False)


def test_the_text_of_a_range_comes_from_the_sentence():
    text = Sentence(words=("삼성", "은", "크다"), text="삼성은 크다", starts=(0, 2, 4), ends=(2, 3, 6))
    mistake = find_mistake(text, [(0, 1, "X")], [])
    assert [mistake.text(0, 1), mistake.text(0, 2), mistake.text(1, 3), mistake.text(0, 0)] == [
        "삼성",
        "삼성은",
        "은 크다",
        "",
    ]


def test_a_span_has_its_own_probability_or_that_of_its_tokens():
    spans = [(0, 2, "X"), (3, 4, "X")]
    mistake = find_mistake(SENTENCE, [], spans, [0.5, 0.7, 0.1, 0.9], {(3, 4, "X"): 0.2})
    assert mistake.chances == pytest.approx((0.6, 0.2))
    assert find_mistake(SENTENCE, [], spans).chances == (1.0, 1.0)
