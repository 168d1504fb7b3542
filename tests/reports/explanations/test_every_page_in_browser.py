"""Every kind of page in a real browser: phone, tablet and desktop, light and dark, English and Korean.

If these break, a page scrolls sideways, numbers or axis labels are cut off, the content policy blocks
something of gonie's own, a list of errors cannot be searched, or a page is not accessible (axe-core).
"""

from __future__ import annotations

import importlib.util
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from gonie.messages import use_language
from gonie.metrics.classes import ClassEvaluation, evaluate_classes
from gonie.metrics.evaluation import Evaluation, evaluate
from gonie.metrics.novelty import SeenMentions
from gonie.reports.class_report import render_classes
from gonie.reports.explanation import (
    AskedSpan,
    Faithfulness,
    LayerShares,
    TagExplanation,
    TextExplanation,
    Transitions,
)
from gonie.reports.explanations.heat import strip
from gonie.reports.explanations.layout import lay_out
from gonie.reports.explanations.style import STYLE
from gonie.reports.explanations.tag_page import render_tags
from gonie.reports.explanations.text_page import render_texts
from gonie.reports.filtered_list import FIRST
from gonie.reports.html.markup import Markup
from gonie.reports.tag_report import render
from gonie.tasks.pairs.value_report import render_values
from gonie.tasks.pairs.values import evaluate_values
from gonie.text.labelled_text import LabelledPair, LabelledText
from gonie.text.schemes import Scheme
from gonie.text.types import Sentence

pytestmark = pytest.mark.long

KINDS = ("tagger", "classifier", "values", "evaluation", "texts", "tags", "asked")
WIDTHS, THEMES, LANGUAGES = (375, 768, 1440), ("light", "dark"), ("en", "ko")
CURVE = [
    {"epoch": n, "loss": 12345.678 / n, "score": 0.8 + n / 1000, "rate": 0.0015 / n**3, "seconds": 1234.5 + n}
    for n in range(1, 41)
]
"""Training with long numbers on its axes."""
DETAILS = {
    "file": "/a/long/path/of/a/folder/" * 4 + "dev.conll",
    "labels": {"PER": {"train": 1234567}},
    "seed": 7,
}
HOSTILE = '<script>document.title = "owned"</script><img src=x onerror="document.title = 2">'

UNFOLD = "document.querySelectorAll('details').forEach(each => each.open = true)"
CLIPPED = """
() => {
  const found = [], width = document.documentElement.clientWidth
  if (document.documentElement.scrollWidth > width) found.push('the page scrolls sideways')
  const boxes = 'tbody th, td, dt, dd, h1, h2, h3, p, summary, button, .tag'
  for (const each of document.querySelectorAll(boxes)) {
    if (!each.checkVisibility()) continue
    const box = each.getBoundingClientRect(), told = each.tagName + ' ' + each.textContent.slice(0, 40)
    if (each.scrollWidth > each.clientWidth + 1 && getComputedStyle(each).display !== 'inline')
      found.push('cut off: ' + told)
    if (!each.closest('.scroll') && (box.left < -1 || box.right > width + 1)) found.push('outside: ' + told)
  }
  for (const each of document.querySelectorAll('.stack')) {
    const box = each.parentElement
    if (width < 640 && box.checkVisibility() && box.scrollWidth > box.clientWidth)
      found.push('scrolls: ' + each.textContent.slice(0, 40))
  }
  for (const each of document.querySelectorAll('svg text')) {
    if (!each.checkVisibility()) continue
    const outer = each.ownerSVGElement.getBoundingClientRect(), box = each.getBoundingClientRect()
    if (box.left < outer.left - .5 || box.right > outer.right + .5 || box.bottom > outer.bottom + 1)
      found.push('outside of the drawing: ' + each.textContent)
  }
  return found
}
"""


def spans_evaluation() -> Evaluation:
    """Return an evaluation of 60 sentences with errors of every kind."""
    words = (HOSTILE, "Kim", "met", "ACME", "in", "서울시")
    gold = ("B-PER", "I-PER", "O", "B-ORG", "O", "B-LOC")
    wrong = [
        ("B-PER", "O", "O", "B-ORG", "O", "B-LOC"),
        ("B-PER", "I-PER", "O", "B-LOC", "O", "B-LOC"),
        ("B-PER", "I-PER", "B-ORG", "B-ORG", "O", "O"),
    ]
    sentences = [
        Sentence((f"needle{n}", *words), ("O", *gold), path="/some/where/dev.conll", line=8 * n)
        for n in range(60)
    ]
    return evaluate(
        sentences,
        [("O", *wrong[n % 3]) for n in range(60)],
        scheme=Scheme(kind="IOB2"),
        seen=SeenMentions.from_types({"서울시": ["LOC"]}),
        confidences=[[0.5 + (n + 30) % 60 / 200] * 7 for n in range(60)],
        bootstrap=20,
    )


def classes_evaluation() -> ClassEvaluation:
    """Return an evaluation of 60 texts with two thirds wrong, and labels with long names."""
    labels = ["SearchScreeningEvent", "AddToPlaylist", "레이블"]
    chances = np.random.default_rng(0).dirichlet((2, 1, 1), size=60)
    texts = [
        LabelledText(f"needle{n} {HOSTILE} 아주 긴 텍스트 " * 3, (labels[n % 3],), path="dev.tsv", line=n)
        for n in range(60)
    ]
    predicted = [(labels[int(row.argmax())],) for row in chances]
    return evaluate_classes(texts, predicted, chances, labels, lengths=[9] * 60, bootstrap=20)


class Explainer:
    """Explains errors of a report like the first text of the fixtures."""

    style = STYLE

    def __init__(self, text: TextExplanation) -> None:
        self._text = text

    def __call__(self, error: Any) -> Markup:
        return strip(lay_out(self._text.text, self._text.passage.sentences), self._text.weights[1])


def pairs_page() -> str:
    pairs = [
        LabelledPair(f"first {n}", f"second {n}", (), value=n / 3, path="p.tsv", line=n) for n in range(40)
    ]
    return render_values(
        evaluate_values(pairs, [n / 4 for n in range(40)], bootstrap=20), title="t", curve=CURVE
    )


@pytest.fixture
def make(
    texts: Sequence[TextExplanation],
    tagged: Sequence[TagExplanation],
    moves: Transitions,
    figures: Sequence[Faithfulness],
) -> Callable[[str, str], str]:
    """Return a function that renders a kind of page in a language."""
    layers = (LayerShares("input", (0.2, 0.8), 1.0, normalized=False),)
    preferred = AskedSpan(("O", "O"), 0.97, 6.95, predicted=False, notes=("'Anna' occurs 2 times.",))
    asked = replace(tagged[1], asked=(replace(tagged[1].spans[0], asked=preferred, label="ORG"),))
    pages: Mapping[str, Callable[[], str]] = {
        "tagger": lambda: render(spans_evaluation(), title="runs/ner", curve=CURVE, details=DETAILS),
        "classifier": lambda: render_classes(
            classes_evaluation(), title="runs/x", curve=CURVE, details=DETAILS
        ),
        "values": pairs_page,
        "evaluation": lambda: render_classes(
            classes_evaluation(), title="runs/x on dev.tsv", explain=Explainer(texts[0])
        ),
        "texts": lambda: render_texts(texts, figures, title="runs/nsmc", notes=["A note."], layers=layers),
        "tags": lambda: render_tags(tagged, moves, figures, title="runs/ner"),
        "asked": lambda: render_tags([asked], moves, figures, title="runs/ner"),
    }

    def call(kind: str, language: str) -> str:
        with use_language(language):
            return pages[kind]()

    return call


Open = Callable[..., Any]


@pytest.fixture
def show(browser: Any, tmp_path: Path) -> Iterator[Open]:
    """Open a page from a file. It must load nothing else, log nothing, and obey its content policy."""
    opened, problems = [], []
    file = tmp_path / "page.html"

    def call(html: str, *, width: int = 1440, theme: str = "light") -> Any:
        file.write_text(html, "utf-8")
        context = browser.new_context(viewport={"width": width, "height": 800}, color_scheme=theme)
        opened.append(context)
        context.route("**/*", lambda route: (problems.append(route.request.url), route.continue_()))
        page = context.new_page()
        page.on("console", lambda message: problems.append(message.text))
        page.on("pageerror", lambda error: problems.append(str(error)))
        page.on("dialog", lambda dialog: problems.append(dialog.message))
        page.goto(file.as_uri())
        assert page.title() not in ("owned", "2")
        return page

    yield call
    for context in opened:
        context.close()
    assert [each for each in problems if each != file.as_uri()] == []


def axe() -> str:
    """Return the source of axe-core, or skip the test if it is not installed."""
    found = importlib.util.find_spec("axe_core_python")
    if found is None or not found.submodule_search_locations:
        told = "no axe-core: pip install axe-core-python"
        pytest.fail(told) if os.environ.get("CI") else pytest.skip(told)
    return (Path(found.submodule_search_locations[0]) / "axe.min.js").read_text("utf-8")


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("kind", KINDS)
def test_nothing_is_cut_off(
    show: Open, make: Callable[[str, str], str], kind: str, width: int, language: str
) -> None:
    page = show(make(kind, language), width=width)
    assert page.evaluate(CLIPPED) == []
    page.evaluate(UNFOLD)
    for theme in THEMES:
        page.emulate_media(color_scheme=theme)
        assert page.evaluate(CLIPPED) == []


@pytest.mark.parametrize("theme", THEMES)
@pytest.mark.parametrize("kind", KINDS)
def test_pages_are_accessible(show: Open, make: Callable[[str, str], str], kind: str, theme: str) -> None:
    page = show(make(kind, "en"), theme=theme)
    page.evaluate(UNFOLD)
    page.evaluate(axe())  # not a script element, which the content policy would block
    for width in (375, 1440):
        page.set_viewport_size({"width": width, "height": 800})
        found = page.evaluate("axe.run().then(found => found.violations)")
        assert [(each["id"], each["nodes"][0]["html"]) for each in found] == []


def visible(page: Any) -> list[str]:
    """Return the texts of the items that are shown."""
    return [each.inner_text() for each in page.locator(".items article").all() if each.is_visible()]


@pytest.mark.parametrize("kind", ["tagger", "classifier"])
def test_errors_can_be_searched_filtered_and_sorted(
    show: Open, make: Callable[[str, str], str], kind: str
) -> None:
    page = show(make(kind, "en"))
    total = page.locator(".items article").count()
    assert len(visible(page)) == FIRST < total
    line = page.get_by_role("status")
    assert line.inner_text() == f"Showing {FIRST} of {total}."

    first, *_ = visible(page)
    page.locator("[data-by=order]").select_option("as in the file")
    in_file = visible(page)
    assert in_file[0] != first
    page.locator("[data-by=order]").select_option("least confident first")
    assert visible(page)[0] != first
    assert "0.50" in visible(page)[0] or kind == "classifier"

    word = next(part for part in first.split() if part.startswith("needle"))
    page.get_by_role("searchbox").fill(f" {word.upper()} ")
    assert all(word in text for text in visible(page))
    assert f"out of {total}." in line.inner_text()
    page.get_by_role("searchbox").fill("no such text")
    assert visible(page) == []
    assert line.inner_text() == f"Showing 0 of 0 matches, out of {total}."
    page.get_by_role("searchbox").fill("")

    labels = page.locator("[data-by=labels]")
    name = labels.locator("option").nth(1).inner_text()
    labels.select_option(name)
    assert visible(page)
    assert all(name in text for text in visible(page))
    labels.select_option("all")

    more = page.get_by_role("button", name="Show more")
    more.focus()
    page.keyboard.press("Enter")
    assert len(visible(page)) == total
    assert not more.is_visible()
    focused = page.evaluate(
        "[...document.querySelectorAll('.items article')].indexOf(document.activeElement)"
    )
    assert focused == FIRST  # the first one that was added


def test_errors_of_taggers_can_be_filtered_by_kind(show: Open, make: Callable[[str, str], str]) -> None:
    page = show(make("tagger", "en"))
    kinds = page.locator("[data-by=kinds]")
    assert kinds.locator("option").all_inner_texts() == [
        "all", "missed", "spurious", "wrong boundary", "wrong type",
    ]  # fmt: skip
    for kind in ("spurious", "wrong type", "wrong boundary"):
        kinds.select_option(kind)
        assert len(visible(page)) == 20
        assert all(kind in text for text in visible(page))


def test_the_search_reads_across_marks(show: Open, make: Callable[[str, str], str]) -> None:
    page = show(make("tagger", "en"))
    page.get_by_role("searchbox").fill("met acme in 서울시")
    assert len(visible(page)) == FIRST


def test_the_line_of_a_korean_page_counts_too(show: Open, make: Callable[[str, str], str]) -> None:
    page = show(make("tagger", "ko"))
    assert page.get_by_role("status").inner_text() == f"60개 중 {FIRST}개를 표시합니다."


@pytest.mark.parametrize("kind", ["tagger", "classifier"])
def test_every_error_is_shown_without_scripts(
    browser: Any, tmp_path: Path, make: Callable[[str, str], str], kind: str
) -> None:
    file = tmp_path / "page.html"
    file.write_text(make(kind, "en"), "utf-8")
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(file.as_uri())
    assert page.locator(".items article").count() > FIRST
    assert len(visible(page)) == page.locator(".items article").count()
    assert not page.locator(".controls").is_visible()
    context.close()


def test_the_content_policy_blocks_what_is_not_gonies(
    browser: Any, tmp_path: Path, make: Callable[[str, str], str]
) -> None:
    """A missing escape would still run nothing."""
    injected = (
        '<script>document.title = "owned"</script><p id="x" style="color: red" onclick="0">x</p></main>'
    )
    file = tmp_path / "page.html"
    file.write_text(make("tagger", "en").replace("</main>", injected), "utf-8")
    page = browser.new_page()
    blocked: list[str] = []
    page.on("console", lambda message: blocked.append(message.text))
    page.goto(file.as_uri())
    assert page.title() != "owned"
    assert page.locator("#x").evaluate("e => getComputedStyle(e).color") != "rgb(255, 0, 0)"
    assert sum("Content Security Policy" in text for text in blocked) >= 2
    page.close()
