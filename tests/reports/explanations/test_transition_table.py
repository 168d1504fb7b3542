"""Tables of transition scores: every score in its cell, and forbidden transitions marked."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from gonie.reports.explanation import Transitions
from gonie.reports.explanations.transition_table import (
    END,
    START,
    greatest,
    has_learned,
    lines,
    transition_section,
)


def test_each_score_is_in_the_row_of_its_first_tag(moves: Transitions, parse: Callable[[str], Any]) -> None:
    rows = re.findall(r"<tr><th scope=\"row\">(.*?)</th>(.*?)</tr>", transition_section(moves))
    cells = {name: re.findall(r"<td[^>]*>(.*?)</td>", inner) for name, inner in rows}
    assert list(cells) == [START, *moves.labels]
    assert cells[START] == ["+0.25", "+0.50", "✕", "+0.12", "✕"]
    assert cells["B-PER"] == ["-0.50", "-2.00", "+2.50", "+0.00", "-0.25"]
    assert END in parse(transition_section(moves)).text


def test_colour_shows_size_and_sign(moves: Transitions) -> None:
    markup = transition_section(moves)
    assert '<td class="heat-cell h10">+2.50</td>' in markup
    assert '<td class="heat-cell against n8">-2.00</td>' in markup
    assert greatest(list(lines(moves))) == 2.5
    assert has_learned(moves)


def test_zero_scores_and_many_tags_are_handled() -> None:
    zeros = ((0.0,) * 70,) * 70
    many = Transitions(tuple(f"T{n}" for n in range(70)), zeros, zeros[0], zeros[0])
    assert not has_learned(many)
    markup = transition_section(many)
    assert "10 more tags are not shown" in markup
    assert markup.count("<td") == 61 * 61
