"""Tests the sentence that says which model is best from how many examples on."""

from __future__ import annotations

import pytest

from gonie.reports.size_verdict import verdict
from support.size_fixtures import crossing, size_comparison, size_line


def test_the_sentence_says_where_the_lines_cross() -> None:
    """0.40 + 0.01 x and 0.20 + 0.30 x meet at x = 0.69 of the way from 20 to 100 on a logarithmic axis."""
    crossed = round(20 * 5 ** (0.2 / 0.29))
    assert crossed == 61
    assert verdict(crossing(sd=0.0)) == (
        "Below about 61 labelled sentences, in-context is best (40.0 F1 with 20; next is “tuned transformer” "
        "with 20.0). "
        "From about 61, “tuned transformer” is best (80.0 F1 with 3,010; next is BiLSTM-CRF with 72.0). "
        "old (trained before) has 30.0 F1; in-context reaches this with 20."
    )


def test_overlapping_spreads_are_no_clear_difference() -> None:
    text = verdict(crossing(sd=0.02))
    assert "Below about 49 labelled sentences, in-context is best" in text
    assert (
        "Between about 49 and 76, there is no clear difference between in-context and “tuned transformer”; "
        "the means cross at about 61." in text
    )
    assert "From about 76, “tuned transformer” is best" in text


def test_a_model_that_is_always_best() -> None:
    found = size_comparison(
        size_line("a", 0.5, 0.6, 0.7, 0.8, sd=0.01), size_line("b", 0.1, 0.2, 0.3, 0.4, sd=0.0)
    )
    assert verdict(found) == (
        "From 20 to 3,010 labelled sentences, a is best (80.0 F1 with 3,010; next is b with 40.0)."
    )


def test_the_scores_are_those_of_a_size_at_which_the_model_is_clearly_best() -> None:
    """All are equally good with all data, so its scores and its runner-up say nothing."""
    found = size_comparison(
        size_line("first", 0.8, 0.9, 0.95, 1.0, sd=0.0),
        size_line("second", 0.7, 0.6, 0.9, 1.0, sd=0.0),
        size_line("third", 0.1, 0.7, 0.8, 1.0, sd=0.0),
    )
    assert verdict(found) == (
        "From 20 to 3,010 labelled sentences, first is best (95.0 F1 with 500; next is second with 90.0). "
        "With 3,010, there is no clear difference between first, second and third."
    )


@pytest.mark.parametrize("at", range(4))
def test_a_tie_at_one_measured_size_is_said(at: int) -> None:
    scores = [0.4, 0.5, 0.6, 0.7]
    equal = [score if number == at else score - 0.1 for number, score in enumerate(scores)]
    text = verdict(size_comparison(size_line("a", *scores, sd=0.0), size_line("b", *equal, sd=0.0)))
    size = ("20", "100", "500", "3,010")[at]
    assert text.endswith(f". With {size}, there is no clear difference between a and b.")
    quoted = "60.0 F1 with 500; next is b with 50.0" if at == 3 else "70.0 F1 with 3,010; next is b with 60.0"
    assert text.startswith(f"From 20 to 3,010 labelled sentences, a is best ({quoted}).")


def test_a_tie_where_a_region_without_a_clear_difference_begins_is_not_said_twice() -> None:
    one = size_line("a", 0.4, 0.5, 0.6, 0.7, sd=0.0)
    other = size_line("b", 0.1, 0.2, 0.6, 0.7, sd=0.0)
    assert verdict(size_comparison(one, other)) == (
        "Below 500 labelled sentences, a is best (40.0 F1 with 20; next is b with 10.0). "
        "From 500, there is no clear difference between a and b."
    )


def test_a_model_that_is_best_only_between_measured_sizes_has_no_score_there() -> None:
    lines = [
        size_line("a", 0.5, 0.5, sd=0.0),
        size_line("b", 0.5, 0.1, sd=0.0),
        size_line("c", 0.1, 0.5, sd=0.0),
    ]
    assert verdict(size_comparison(*lines)) == (
        "From 20 to 100 labelled sentences, a is best. "
        "With 20, there is no clear difference between a and b. "
        "With 100, there is no clear difference between a and c."
    )


def test_no_clear_difference_anywhere() -> None:
    lines = [size_line(name, 0.5, 0.5, 0.5, 0.5, sd=0.01) for name in "ab"]
    third = size_line("c", 0.5, 0.1, 0.1, 0.1, sd=0.01)
    assert verdict(size_comparison(*lines, third)) == (
        "From 20 to 3,010 labelled sentences, there is no clear difference between a and b (in a part of "
        "this range also c)."
    )


def test_a_model_that_was_trained_before_is_never_best() -> None:
    """It may have learned from more labels than any size has. Another model may reach it, or none."""
    one = size_line("one", 0.1, 0.2, 0.3, 0.4, sd=0.01)
    old = size_line("my old", 0.9, 0.9, 0.9, 0.9, constant=True, labelled=5000)
    assert verdict(size_comparison(one, old)) == (
        "From 20 to 3,010 labelled sentences, one is best (40.0 F1 with 3,010). "
        "“my old” (trained before on 5,000 sentences) has 90.0 F1; with 3,010, no other model reaches this."
    )
    reached = size_line("old", 0.25, 0.25, 0.25, 0.25, constant=True)
    assert round(100 * 5**0.5) == 224
    assert verdict(size_comparison(one, reached)).endswith(
        "). old (trained before) has 25.0 F1; one reaches this with about 220."
    )


def test_one_seed_is_said() -> None:
    assert verdict(crossing(sd=None, seeds=1)).endswith(
        "Each score is that of one seed, so small differences may be chance."
    )


def test_a_measured_size_is_exact() -> None:
    late = size_line("late", None, None, 0.9, 0.9, sd=0.0)
    text = verdict(size_comparison(size_line("always", 0.1, 0.2, 0.3, 0.4, sd=0.0), late))
    assert text.startswith("Below 500 labelled sentences, always is best")
    assert "From 500, late is best (90.0 F1 with 3,010" in text


@pytest.mark.parametrize("lines", [[], [size_line("one", 0.5)]])
def test_without_two_sizes_there_is_nothing_to_say(lines: list) -> None:
    assert verdict(size_comparison(*lines)) == "No model has a score at two sizes."
