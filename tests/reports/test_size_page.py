"""Tests the page of a comparison over training sizes: its parts, its chart, and how a browser shows it."""

from __future__ import annotations

import re
from itertools import pairwise
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

from gonie.metrics.score_curves import ScoreCurve, ScorePoint
from gonie.reports.size_chart import HEIGHT, WIDTH, size_chart
from gonie.reports.size_comparison import SizeComparison, SizeLine
from gonie.reports.size_page import render_sizes
from gonie.reports.size_tables import size_cells, size_header
from gonie.reports.size_verdict import verdict
from support.page_visits import AXE
from support.size_fixtures import crossing, size_comparison, size_line

HOSTILE = '<script>alert(1)</script>"&'


def test_the_sentence_comes_first_then_chart_and_table() -> None:
    page = render_sizes(crossing(), title="F1 by training size", told=["old: 727 sentences"])
    places = [page.index(text) for text in ('class="answer"', "<svg", "<table", "old: 727 sentences")]
    assert places == sorted(places)
    assert "there is no clear difference" in page
    assert re.search(r"<td[^>]*><b>80\.00 ± 1\.00</b>", page), "the best score of a size is bold"
    assert "http" not in page.replace("http-equiv", "")


def test_names_are_text() -> None:
    page = render_sizes(size_comparison(size_line(HOSTILE, 0.1, 0.2, 0.3, 0.4)), title="t", told=[HOSTILE])
    assert "<script>" not in page
    assert "&lt;script&gt;" in page


def test_a_model_that_was_trained_before_is_told_apart() -> None:
    """It is dashed, its label says so, and its scores are not the best ones of a size."""
    old = size_line("old", 0.9, 0.9, 0.9, 0.9, constant=True, labelled=800)
    found = size_comparison(size_line("one", 0.1, 0.2, 0.3, 0.4), old)
    page = render_sizes(found, title="t")
    assert size_cells(found, old)[0] == "old (trained before on 800 sentences)"
    assert ">old (trained before on 800 sentences)</t" in page
    assert "<b>90.00</b>" not in page
    assert page.count("<b>") == 4
    assert "old (trained before)</text>" in page
    assert 'class="curve constant"' in page
    assert "Models that were trained before, on any data, are shown for reference." in page
    assert "trained before" not in render_sizes(size_comparison(found.lines[0]), title="t")


def test_warnings_are_below_the_answer() -> None:
    page = render_sizes(crossing(), title="t", warnings=["failed: cells/3: loss is not finite"])
    place = page.index('<p class="warning">failed: cells/3: loss is not finite</p>')
    assert page.index('class="answer"') < place < page.index("<svg")
    assert '<p class="warning">' not in render_sizes(crossing(), title="t")


def test_rows_have_scores_and_costs() -> None:
    found = crossing()
    assert size_header(found) == ["model", "20", "100", "500", "3,010", "tokens/s", "ms", "MB"]
    assert size_cells(found, found.lines[1]) == [
        "tuned transformer",
        *("20.00 ± 1.00", "50.00 ± 1.00", "70.00 ± 1.00", "80.00 ± 1.00"),
        *("111", "9.0", "6.5"),
    ]
    missing = SizeLine(ScoreCurve("late", (ScorePoint(500, 0.5),)))
    assert size_cells(found, missing) == ["late", "–", "–", "50.00", "–", "–", "–", "–"]


def many(number: int) -> SizeComparison:
    return size_comparison(*(size_line(f"model {at}", 0.5, 0.5, 0.51, 0.5, sd=0.3) for at in range(number)))


@pytest.mark.parametrize(
    "found",
    [
        crossing(),
        crossing(sd=None),
        many(12),
        size_comparison(size_line("one point", None, 0.5, sd=0.1)),
        size_comparison(size_line("zero", 0.0, 0.0, 0.0, 0.0), size_line("negative", -0.2, 0.0, 0.1, 0.2)),
    ],
)
def test_the_chart_stays_in_its_drawing(found: SizeComparison) -> None:
    drawing = ElementTree.fromstring(str(size_chart(found, verdict(found))))
    lines = list(drawing.iter("polyline"))
    assert len(lines) == len(found.lines)
    for each in [*lines, *drawing.iter("polygon")]:
        places = [tuple(map(float, pair.split(","))) for pair in each.attrib["points"].split()]
        assert all(0 <= x <= WIDTH and 0 <= y <= HEIGHT for x, y in places)
    names = [each for each in drawing.iter("text") if each.attrib.get("class") == "model"]
    heights = sorted(float(each.attrib["y"]) for each in names)
    assert len(names) == len(found.lines)
    assert all(after - before >= 16 for before, after in pairwise(heights))
    assert heights[0] > 0
    assert heights[-1] < HEIGHT


def test_sizes_are_on_a_logarithmic_axis() -> None:
    (line,) = re.findall(
        r'class="curve" points="([^"]*)"|points="([^"]*)" class="curve"',
        size_chart(size_comparison(size_line("one", 0.1, 0.2, 0.3, 0.4)), ""),
    )
    xs = [float(pair.split(",")[0]) for pair in "".join(line).split()]
    assert xs[1] - xs[0] == pytest.approx(xs[2] - xs[1], abs=0.2), "20, 100 and 500 are factors of 5 apart"


@pytest.mark.long
@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [1200, 380])
def test_a_browser_shows_the_page(browser: Any, tmp_path: Path, scheme: str, width: int) -> None:
    axe = pytest.importorskip("axe_core_python", reason="axe-core-python is not installed")
    (tmp_path / "sizes.html").write_text(render_sizes(crossing(), title="F1 by training size"), "utf-8")
    page = browser.new_page(viewport={"width": width, "height": 900}, color_scheme=scheme)
    wrong: list[str] = []
    asked: list[str] = []
    page.on("console", lambda message: wrong.append(message.text))
    page.on("request", lambda request: asked.append(request.url))
    page.goto((tmp_path / "sizes.html").as_uri())
    assert page.inner_text(".answer").startswith("Below about")
    assert page.locator("svg .model").count() == 4
    assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")
    tones = page.eval_on_selector_all("svg .curve", "all => all.map(l => getComputedStyle(l).stroke)")
    assert len(set(tones)) == 4
    page.evaluate((Path(axe.__file__).parent / "axe.min.js").read_text("utf-8"))
    assert page.evaluate(AXE) == []
    page.close()
    assert wrong == []
    assert len(asked) == 1
