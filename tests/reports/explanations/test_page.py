"""If these break, a page opens without saying how far to trust it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from gonie.reports.explanation import Faithfulness
from gonie.reports.explanations.page import bars, faithfulness_table, key, opening, references

Parse = Callable[[str], Any]


def test_methods_come_before_controls_and_each_says_where_it_stands(
    parse: Parse, figures: Sequence[Faithfulness]
) -> None:
    text = parse(faithfulness_table([figures[3], *figures[:3]], noun="text")).text
    assert text[0] == "Faithfulness on this model, over 200 texts"
    places = [text.index(name) for name in ("attention ", "integrated gradients ", "erasure ", "random ")]
    assert places == sorted(places)
    assert [text[place + 1] for place in places] == [
        "no better than chance", "beats chance", "beats chance", "control",
    ]  # fmt: skip


def test_the_opening_says_what_was_not_measured(parse: Parse) -> None:
    text = parse(opening("t", "Beware.", [], noun="text", notes=["<n>"])).text
    assert text == [
        "t", "Beware.", "The faithfulness of these weights to this model was not measured.", "<n>",
    ]  # fmt: skip


def test_bars_are_sorted_bounded_and_name_the_gold(parse: Parse) -> None:
    markup = bars({"a": 0.25, "b": 0.75, "c": 1.0000001}, given=["b"], gold=["a"])
    assert [text for text in parse(markup).text if text in "abc"] == ["c", "b", "a"]
    assert " (gold)" in parse(markup).text
    assert "--p:1.0000" in markup


def test_the_key_names_only_what_is_on_the_page(parse: Parse) -> None:
    assert "share of attention" not in parse(key(shares=False, sides=True)).text
    assert "opposes it" not in parse(key(shares=True, sides=False)).text


def test_who_said_it_is_named(parse: Parse) -> None:
    assert any("ERASER" in text for text in parse(references()).text)
