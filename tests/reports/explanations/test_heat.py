"""Heat maps on pages: every word stays readable, and signs are not shown by colour alone."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from gonie.reports.explanation import TextExplanation, TokenWeights
from gonie.reports.explanations.heat import STOPS, number, strip, strongest_words
from gonie.reports.explanations.layout import lay_out

Explain = Callable[..., TextExplanation]


def spans(markup: str) -> list[tuple[str, str, str]]:
    """Return the class, word and number of each token."""
    return re.findall(r'<span class="(w[^"]*)"[^>]*>([^<]*)<i>([^<]*)</i>', markup)


def test_every_word_has_its_number_and_negative_ones_a_class(explain_text: Explain) -> None:
    each = explain_text("not a bad film at all")
    weights = each.weights[1]
    found = spans(strip(lay_out(each.text, each.passage.sentences), weights))
    assert [word for _, word, _ in found] == ["not", "a", "bad", "film", "at", "all"]
    for (kind, _, told), value in zip(found, weights.words[0], strict=True):
        assert told == f"{value:+.4f}"
        assert ("against" in kind.split()) == (value < 0)
        assert bool(re.search(r"\bn\d", kind)) == (value < 0)


def test_several_sentences_have_bars(explain_text: Explain) -> None:
    one, many = explain_text("good. bad."), explain_text("good. bad.", by=".")
    flat = strip(lay_out(one.text, one.passage.sentences), one.weights[0])
    deep = strip(lay_out(many.text, many.passage.sentences), many.weights[0])
    assert 'class="weight' not in flat
    assert re.findall(r'class="weight h(\d+)">([0-9.]+)', deep) == [("5", "0.333"), ("10", "0.667")]


def test_shares_are_shown_for_the_text_and_the_sentence() -> None:
    weights = TokenWeights("attention", "x", ((0.125, 0.375), (0.5,)), (0.5, 0.5))
    assert number(weights, 0, 1) == "0.3750 of the text, 0.7500 of its sentence"
    assert number(TokenWeights("attention", "x", ((0.25, 0.75),), (1.0,)), 0, 1) == "0.7500"


def test_a_long_text_has_few_keyboard_stops(explain_text: Explain) -> None:
    each = explain_text("word another " * 500)
    markup = strip(lay_out(each.text, each.passage.sentences), each.weights[1])
    assert markup.count('tabindex="0"') == STOPS
    assert markup.count('tabindex="-1"') == 1000 - STOPS


def test_the_strongest_words_of_each_method_are_listed(
    explain_text: Explain, parse: Callable[[str], Any]
) -> None:
    each = explain_text("a <b> film")
    text = parse(strongest_words(lay_out(each.text, each.passage.sentences), each.weights)).text
    assert text[:2] == ["Words with the largest weights", "attention"]
    assert "film" in text


def test_korean_has_a_lang_attribute_and_hostile_words_are_text(
    explain_text: Explain, parse: Callable[[str], Any], hostile: str
) -> None:
    korean, other = explain_text("정말 재미있다"), explain_text(hostile, label=hostile)
    assert 'lang="ko"' in strip(lay_out(korean.text, korean.passage.sentences), korean.weights[0])
    for weights in other.weights:
        parsed = parse(strip(lay_out(other.text, other.passage.sentences), weights))
        assert parsed.runs_and_loads_nothing()
        assert {tag for tag, _ in parsed.tags} <= {"section", "h3", "span", "div", "p", "i"}
