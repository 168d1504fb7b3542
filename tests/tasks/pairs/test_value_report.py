"""If these break, the report of a similarity model is incomplete or its table columns are misaligned."""

from __future__ import annotations

import random
from typing import Any

import pytest

from gonie.tasks.pairs.value_report import MOST_ERRORS, MOST_POINTS, render_values
from gonie.tasks.pairs.values import ValueEvaluation, evaluate_values
from gonie.text.labelled_text import LabelledPair


def evaluated(number: int, *, constant: bool = False) -> ValueEvaluation:
    chance = random.Random(0)
    pairs = [
        LabelledPair(f"첫째 {at} & <i>", f"둘째 {at}", (), 1.0 if constant else 5 * chance.random(), "f", at)
        for at in range(number)
    ]
    return evaluate_values(pairs, [1.0 if constant else 5 * chance.random() for _ in pairs], bootstrap=20)


def test_the_page_has_the_scores_and_the_worst_pairs(parse: Any) -> None:
    evaluation = evaluated(50)
    page = parse(render_values(evaluation, title="t <b>", details={"file": "x"}))
    text = " ".join(page.text)
    assert page.runs_and_loads_nothing()
    for words in ("t <b>", "Pearson", "Spearman", "mean absolute error", "Largest errors", "gold"):
        assert words in text, words
    for error in evaluation.errors()[:MOST_ERRORS]:
        assert error.text in page.text
        assert error.text_pair in page.text
        assert f"f:{error.line}" in page.text
    assert evaluation.errors()[MOST_ERRORS].text not in page.text
    assert sum(tag == "circle" for tag, _ in page.tags) == 50


def test_every_row_has_a_cell_for_each_column(parse: Any) -> None:
    page = parse(render_values(evaluated(5), title="t"))
    tags = [tag for tag, _ in page.tags]
    after = tags[tags.index("svg") :]
    after = after[after.index("table") :]
    widths: list[int] = []
    for tag in after:
        if tag == "table" and widths:
            break
        if tag == "tr":
            widths.append(0)
        elif tag in ("td", "th"):
            widths[-1] += 1
    assert widths == [3] * 6


@pytest.mark.parametrize("number", [1, 2])
def test_few_pairs_or_constant_values_give_a_valid_page(number: int, parse: Any) -> None:
    for constant in (False, True):
        page = parse(render_values(evaluated(number, constant=constant), title="t"))
        assert not {"nan", "inf"} & {str(value) for _, named in page.tags for value in named.values()}


def test_points_stay_inside_the_plot_and_are_limited_in_number(parse: Any) -> None:
    page = parse(render_values(evaluated(3 * MOST_POINTS + 1), title="t"))
    dots = [named for tag, named in page.tags if tag == "circle"]
    assert MOST_POINTS / 2 < len(dots) <= 2 * MOST_POINTS
    assert all(0 <= float(dot[side]) <= 450 for dot in dots for side in ("cx", "cy"))


def test_both_axes_are_named_and_have_the_same_ticks(parse: Any) -> None:
    text = parse(render_values(evaluated(50), title="t")).text
    assert "predicted value" in text
    assert "gold value" in text
    assert all(text.count(str(tick)) == 2 for tick in range(6)), text


def test_the_curve_of_a_run_is_drawn(parse: Any) -> None:
    curve = [{"epoch": epoch, "loss": 1 / epoch, "dev": 0.1 * epoch} for epoch in (1, 2, 3)]
    with_curve = render_values(evaluated(5), title="t", curve=curve)
    assert len(with_curve) > len(render_values(evaluated(5), title="t"))
    parse(with_curve)
