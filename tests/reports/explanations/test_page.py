"""Parts of explanation pages, such as the table of faithfulness and the key."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from gonie.reports.explanation import Faithfulness
from gonie.reports.explanations.page import bars, faithfulness_table, heading, how_to_read, key, references

Parse = Callable[[str], Any]


def test_methods_come_before_controls_with_their_standing(
    parse: Parse, figures: Sequence[Faithfulness]
) -> None:
    text = parse(faithfulness_table([figures[3], *figures[:3]], noun="text")).text
    assert text[0] == "Faithfulness on this model, over 200 texts"
    places = [text.index(name) for name in ("attention ", "integrated gradients ", "erasure ", "random ")]
    assert places == sorted(places)
    assert [text[place + 1] for place in places] == [
        "does not beat random", "beats the controls", "beats the controls", "control",
    ]  # fmt: skip


def test_one_line_says_how_far_to_trust_the_weights_and_the_rest_is_folded(
    parse: Parse, figures: Sequence[Faithfulness]
) -> None:
    unknown = parse(how_to_read("Beware.", [], noun="text", notes=["<n>"])).text
    line = "".join(unknown[: unknown.index("How to read this")])
    assert line.endswith("How faithful they are to this model is not known.")
    folded = unknown[unknown.index("How to read this") :]
    for due in ("Beware.", "The faithfulness of these weights to this model was not measured.", "<n>"):
        assert due in folded
    few = [replace(each, texts=3) for each in figures]
    measured = "".join(parse(how_to_read("Beware.", few, noun="span")).text)
    assert "Comprehensiveness on only 3 spans, too few for a verdict: attention " in measured
    assert all(f"{each.method} {each.comprehensiveness:.3f}" in measured for each in few)
    assert "is not known" not in measured
    known = parse(how_to_read("Beware.", figures, noun="text")).text
    assert "Most faithful on this model: erasure." in "".join(known[: known.index("How to read this")])


def test_the_heading_is_the_title(parse: Parse) -> None:
    assert parse(heading("<t>")).text == ["<t>"]


def test_bars_are_sorted_bounded_and_mark_the_gold_label(parse: Parse) -> None:
    markup = bars({"a": 0.25, "b": 0.75, "c": 1.0000001}, given=["b"], gold=["a"])
    assert [text for text in parse(markup).text if text in "abc"] == ["c", "b", "a"]
    assert " (gold)" in parse(markup).text
    assert '<rect width="100.00"' in markup
    assert '<rect width="25.00"' in markup


def test_the_key_names_only_what_is_on_the_page(parse: Parse) -> None:
    assert "share of attention" not in parse(key(shares=False, sides=True)).text
    assert "opposes it" not in parse(key(shares=True, sides=False)).text


def test_the_references_are_listed(parse: Parse) -> None:
    assert any("ERASER" in text for text in parse(references()).text)
