"""Shares of language model layers: each at its layer, with a note on whether they can be compared."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from gonie.reports.explanation import LayerShares
from gonie.reports.explanations.layer_shares import heading, layer_section, lines, reading
from gonie.reports.explanations.tag_page import render_tags
from gonie.reports.explanations.text_page import render_texts

INPUT = LayerShares(place="input", shares=(0.125, 0.5, 0.375), scale=1.25, normalized=True)
OUTPUT = LayerShares(place="output", shares=(0.0, 0.0, 1.0), scale=-0.5, normalized=False)


def test_each_layer_has_its_name_share_and_bar(parse: Callable[[str], Any]) -> None:
    markup = layer_section([INPUT, OUTPUT])
    text = " ".join(parse(markup).text)
    assert "At the input (read by the encoder): γ = 1.2500" in text
    assert "At the output (appended to the encoder's output): γ = -0.5000" in text
    names = "layer 0 (character-based words) 0.1250 layer 1 0.5000 layer 2 0.3750"
    assert names in " ".join(text.split())
    assert markup.count('<rect width="50.00"') == 1
    assert [share for _, share in lines(INPUT)] == [0.125, 0.5, 0.375]


def test_the_text_says_whether_shares_can_be_compared() -> None:
    assert "capture more syntax, higher layers more semantics" in reading([INPUT])
    assert "can be compared" in reading([INPUT])
    assert "cannot be compared directly" in reading([OUTPUT])
    assert "cannot be compared directly" in reading([INPUT, OUTPUT])


def test_an_unknown_place_is_shown_by_its_name() -> None:
    other = LayerShares(place="<attic>", shares=(1.0,), scale=1.0, normalized=False)
    assert heading(other) == "At the <attic>: γ = 1.0000"
    assert "<attic>" not in layer_section([other])


def test_pages_show_layer_shares_if_there_are_any(parse: Callable[[str], Any]) -> None:
    for render in (
        lambda layers: render_texts([], [], title="t", layers=layers),
        lambda layers: render_tags([], None, [], title="t", layers=layers),
    ):
        assert "Layers of the language model" in parse(render([INPUT])).text
        assert "Layers of the language model" not in parse(render([])).text
