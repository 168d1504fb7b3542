"""Explained sentences on the terminal: marginals, alternatives, weights, and the transition table."""

from __future__ import annotations

from math import inf

import pytest

from gonie.reports.explanation import TagExplanation, Transitions
from gonie.reports.explanations.layout import lay_out_sentence
from gonie.reports.explanations.screen import ExplanationScreen
from gonie.tasks.tagging.explanation_view import show_moves, show_tags
from support.screens import Shown, tag_explanation

MOVES = Transitions(("O", "B-X"), ((0.5, -1.25), (-inf, 2.0)), (0.25, 0.0), (0.0, 1.0))


def show(screen: ExplanationScreen, each: TagExplanation) -> None:
    show_tags(screen, each, [lay_out_sentence(each.sentence)])


def test_a_tagged_sentence_has_marginals_alternatives_and_weights() -> None:
    shown = Shown()
    show(shown.screen, tag_explanation())
    for due in ("Anna", "B-PER", "0.938", "X 0.062", "0.1250", "Anna: B-PER → O, Kim: I-PER → O",
                "Anna Kim PER 0.875", "Anna(+1.500) Kim(+0.500) naps(-0.250)"):  # fmt: skip
        assert due in shown.text, due


def test_narrow_terminals_show_only_the_strongest_transitions() -> None:
    wide, narrow = Shown(), Shown(width=20)
    show_moves(wide.screen, MOVES)
    show_moves(narrow.screen, MOVES)
    assert "✕" in wide.text
    assert "(start)" in wide.text
    rows = narrow.text.splitlines()
    assert "+2.00" in rows[2]
    assert "strongest" in narrow.text.replace("\n", " ")


@pytest.mark.parametrize("width", [40, 50, 70])
def test_tags_are_next_to_their_tokens_on_a_narrow_screen(width: int) -> None:
    shown = Shown(width=width)
    show(shown.screen, tag_explanation())
    rows = [line.split() for line in shown.text.splitlines()]
    assert any(row[:1] == ["Anna"] and " ".join(row).count("B-PER 0.938") for row in rows)
