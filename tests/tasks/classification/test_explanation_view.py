"""Explained texts on the terminal: labels, gold and every method, with and without colours."""

from __future__ import annotations

from dataclasses import replace

import pytest

from gonie.reports.explanation import TextExplanation, TokenWeights
from gonie.reports.explanations.layout import lay_out
from gonie.reports.explanations.screen import ExplanationScreen
from gonie.tasks.classification.explanation_view import show_text
from gonie.text.passages import Passage
from gonie.text.types import Sentence
from support.screens import Shown, text_explanation


def show(screen: ExplanationScreen, each: TextExplanation) -> None:
    show_text(screen, each, lay_out(each.text, each.passage.sentences))


def test_a_text_is_shown_with_its_labels_and_every_method() -> None:
    shown = Shown()
    show(shown.screen, text_explanation())
    for due in ("positive · 0.8000", "gold is negative", "a.tsv:7", "2 more", "not(0.25) bad(0.75) [red]",
                "not(+0.500) bad(-0.250)", "; 0.0125 unexplained"):  # fmt: skip
        assert due in shown.text, due


def test_colours_are_used_unless_no_color_is_set(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    coloured = Shown(colour=True)
    show(coloured.screen, text_explanation(gold=("positive",)))
    assert "\x1b[" in coloured.text
    assert "(0.75)" not in coloured.text
    monkeypatch.setenv("NO_COLOR", "1")
    plain = Shown(colour=True)
    show(plain.screen, text_explanation())
    assert "bad(0.75)" in plain.text


def test_long_lines_are_not_wrapped_in_a_file() -> None:
    sentence = Sentence(words=("long",) * 100)
    starts, ends = zip(*sentence.offsets(), strict=True)
    located = Sentence(sentence.words, text=sentence.surface, starts=starts, ends=ends)
    weights = TokenWeights("erasure", "x", ((1.0,) * 100,), (100.0,))
    shown = Shown(width=40)
    passage = Passage((located,), sentence.surface)
    show(shown.screen, TextExplanation(sentence.surface, passage, "x", ("x",), {"x": 1.0}, (weights,)))
    assert any(line.count("long") == 100 for line in shown.text.splitlines())


def test_multi_label_texts_are_shown_with_their_labels() -> None:
    each = replace(text_explanation(gold=("L1", "positive")), probabilities={"positive": 0.8, "L1": 0.6})
    for given, answer in (
        (("L1", "positive"), "positive · 0.8000, L1 · 0.6000  ✓ as gold"),
        (("positive",), "positive · 0.8000  ✗ gold is L1, positive"),
        ((), "–  ✗ gold is L1, positive"),
    ):
        shown = Shown()
        show(shown.screen, replace(each, given=given))
        assert shown.text.splitlines()[1].startswith(answer)
