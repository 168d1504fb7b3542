"""Explanation pages of classifiers: self-contained, with warnings, and with the right text."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import pytest

from gonie.reports.explanation import Faithfulness, TextExplanation
from gonie.reports.explanations.text_page import render_texts

Parse = Callable[[str], Any]


def words(parse: Parse, page: str) -> str:
    return " ".join(parse(page).text)


def test_the_answer_comes_first_then_one_line_then_the_folded_warning(
    parse: Parse, texts: Sequence[TextExplanation], figures: Sequence[Faithfulness]
) -> None:
    text = words(parse, render_texts(texts, figures, title="runs/nsmc", notes=["A note."]))
    due = ("runs/nsmc", "positive", "supports the prediction", "drags", "Word weights are estimates",
           "How to read this", "Attention is not by itself an explanation", "Jain & Wallace 2019",
           "Wiegreffe & Pinter 2019", "Removing its top words", "A note.", "References", "긍정")  # fmt: skip
    main = text.partition("@media print")[2]
    places = [main.index(each) for each in due]
    assert places == sorted(places)


def test_every_method_label_and_gold_label_is_shown(
    parse: Parse, texts: Sequence[TextExplanation], figures: Sequence[Faithfulness]
) -> None:
    page = render_texts(texts, figures, title="t")
    text = words(parse, page)
    for method in ("attention", "integrated gradients", "erasure"):
        assert text.count(f" {method} ,") == len(texts)
    for due in ("0.8125", "0.1875", "as gold", "(gold)", "a.tsv:3", "control", "does not beat random"):
        assert due in text, due
    wrong = render_texts([replace(texts[0], gold=("negative",))], figures, title="t")
    assert "✗ gold is negative" in words(parse, wrong)


def test_a_hostile_text_adds_no_links_or_scripts(
    parse: Parse, texts: Sequence[TextExplanation], figures: Sequence[Faithfulness], hostile: str
) -> None:
    page = render_texts(texts, figures, title=hostile, notes=[hostile])
    assert not re.search(r"://|@import|url\(|<script", page)
    parsed = parse(page)
    assert parsed.runs_and_loads_nothing()
    assert "<script>" in "".join(parsed.text)
    assert page.count("</style>") == 1


def test_a_text_without_weights_is_still_shown(parse: Parse, texts: Sequence[TextExplanation]) -> None:
    page = render_texts([replace(texts[0], weights=(), gold=())], [], title="t")
    text = words(parse, page)
    assert "Not a bad film at all." in text
    assert "was not measured" in text
    assert "supports" not in text


@pytest.mark.parametrize("number", [3, 60])
def test_many_labels_are_shortened(parse: Parse, texts: Sequence[TextExplanation], number: int) -> None:
    chances = {f"L{n}": 1 / number for n in range(number)}
    page = render_texts([replace(texts[0], given=(), probabilities=chances)], [], title="t")
    assert (f"{number - 8} more labels" in words(parse, page)) == (number > 8)


def test_a_multi_label_text_is_right_only_with_all_labels(
    parse: Parse, texts: Sequence[TextExplanation]
) -> None:
    each = replace(texts[0], probabilities={"a<b>": 0.75, "b": 0.625, "c": 0.25}, gold=("a<b>", "b"))
    for given, due in (
        (("a<b>", "b"), "a<b> · 0.7500, b · 0.6250 ✓ as gold"),
        (("a<b>",), "a<b> · 0.7500 ✗ gold is a<b>, b"),
        ((), "– ✗ gold is a<b>, b"),
    ):
        assert due in " ".join(
            words(parse, render_texts([replace(each, given=given)], [], title="t")).split()
        )


def test_a_value_has_no_bar_and_is_neither_right_nor_wrong(
    parse: Parse, texts: Sequence[TextExplanation]
) -> None:
    value = replace(texts[0], given=("value 2.74",), gold=("3.00",), probabilities={}, weights=())
    page = render_texts([value], [], title="t")
    assert "value 2.74 gold is 3.00" in " ".join(words(parse, page).split())
    assert 'class="bars"' not in page
