"""Explanations on the terminal: caveats in order, and every figure is shown."""

from __future__ import annotations

import pytest

from gonie.reports.explanation import Faithfulness, LayerShares
from support.screens import Shown

FIGURES = [
    Faithfulness("random", 0.125, 0.25, 40),
    Faithfulness("attention", 0.125, 0.25, 40),
    Faithfulness("erasure", 0.5, 0.0625, 40),
]


def test_warning_figures_and_notes_come_in_order() -> None:
    shown = Shown()
    shown.screen.caveats("Attention is not an explanation.", FIGURES, noun="text", notes=["A [b]note."])
    figures = ("beats the controls", "over 40 texts", "Most faithful")
    due = ("Attention is not an explanation.", *figures, "A [b]note.")
    places = [shown.text.index(words) for words in due]
    assert places == sorted(places)


def test_layer_shares_have_numbers_bars_and_a_reading_note() -> None:
    shown = Shown()
    one = LayerShares(place="input", shares=(0.1, 0.3, 0.6), scale=1.05, normalized=False)
    shown.screen.layers([one, LayerShares(place="output", shares=(1.0,), scale=2.0, normalized=False)])
    rows = [line.split() for line in shown.text.splitlines()]
    assert rows[1] == ["At", "the", "input", "(read", "by", "the", "encoder):", "γ", "=", "1.0500"]
    assert rows[2][-2:] == ["0.1000", "█" * 3]
    assert rows[4] == ["layer", "2", "0.6000", "█" * 18]
    assert "more semantics" in shown.text
    assert "cannot be compared directly" in " ".join(shown.text.split())


@pytest.mark.parametrize("width", [40, 50, 70])
def test_names_and_numbers_are_complete_on_a_narrow_terminal(width: int) -> None:
    """Figures without the name of their method are useless."""
    shown = Shown(width=width)
    shown.screen.caveats("", [*FIGURES, Faithfulness("uniform attention", 0.25, 0.5, 40)], noun="text")
    rows = [line.split() for line in shown.text.splitlines()]
    for name, numbers in (("erasure", "0.500 0.062"), ("uniform", "0.250 0.500")):
        assert any(row[:1] == [name] and " ".join(row).count(numbers) for row in rows), name
