"""Pages in Korean in a real browser: headings are in Hangul, in a font that has it. Data stays."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from gonie.messages import use_language
from gonie.metrics.classes import evaluate_classes
from gonie.metrics.evaluation import evaluate
from gonie.metrics.novelty import SeenMentions
from gonie.reports.class_report import render_classes
from gonie.reports.explanation import Faithfulness, LayerShares, TagExplanation, TextExplanation, Transitions
from gonie.reports.explanations.tag_page import render_tags
from gonie.reports.explanations.text_page import render_texts
from gonie.reports.tag_report import render
from gonie.text.labelled_text import LabelledText
from gonie.text.schemes import Scheme
from gonie.text.types import Sentence

pytestmark = pytest.mark.long

CURVE = [{"epoch": n, "loss": 5 / n, "score": n / 10, "rate": 0.1, "seconds": 1.5} for n in range(1, 4)]
LABELS = ["Errors", "gold"]
"""Labels with the names of headings."""
LAYERS = (LayerShares("input", (0.2, 0.8), 1.0, normalized=False),)
SHOWN = "h2, h4, dt, caption, summary, thead th, .note, .warning, svg .name, .bars dt"
HEADINGS = f"""
() => [...document.querySelectorAll('{SHOWN}')]
  .filter(e => !e.querySelector('bdi')).map(e => e.textContent.trim())
"""
# A letter without a glyph is drawn as a box, the same for all of them.
DRAWN = """
() => {
  const draw = letter => {
    const canvas = document.createElement('canvas').getContext('2d')
    canvas.font = '40px ' + getComputedStyle(document.body).fontFamily
    canvas.fillText(letter, 5, 45)
    return canvas.canvas.toDataURL()
  }
  return draw('학') !== draw('습')
}
"""


@pytest.fixture
def pages(
    texts: Sequence[TextExplanation],
    tagged: Sequence[TagExplanation],
    moves: Transitions,
    figures: Sequence[Faithfulness],
) -> dict[str, str]:
    gold = [Sentence(words=("George", "in", "서울"), tags=("B-Errors", "O", "B-gold"), path="d", line=1)]
    seen = SeenMentions.from_types({"서울": ["gold"]})
    scheme = Scheme(kind="IOB2")
    found = evaluate(gold, [["B-gold", "O", "B-gold"]], scheme=scheme, seen=seen, bootstrap=20)
    classes = evaluate_classes(
        [LabelledText("fine", ("Errors",)), LabelledText("dull", ("gold",))],
        [("gold",), ("gold",)],
        [[0.25, 0.75]] * 2,
        LABELS,
        lengths=[1, 2],
        bootstrap=20,
    )
    with use_language("ko"):
        return {
            "tagger": render(found, title="runs/ner", curve=CURVE),
            "classifier": render_classes(classes, title="runs/reviews", curve=CURVE),
            "texts": render_texts(texts, figures, title="runs/nsmc", layers=LAYERS),
            "tags": render_tags(tagged, moves, figures, title="runs/ner"),
        }


@pytest.mark.parametrize("kind", ["tagger", "classifier", "texts", "tags"])
def test_headings_are_korean(browser: Any, tmp_path: Path, pages: dict[str, str], kind: str) -> None:
    file = tmp_path / "page.html"
    file.write_text(pages[kind], "utf-8")
    page = browser.new_page()
    page.goto(file.as_uri())
    headings = page.evaluate(HEADINGS)
    english = [text for text in headings if re.search("[a-z]{3}", text) and not re.search("[가-힣]", text)]
    papers = [text for text in english if re.search(r"\d{4}, ", text)]
    assert set(english) <= {*LABELS, *papers, *tags_of(pages[kind])}
    assert sum(bool(re.search("[가-힣]", text)) for text in headings) >= 5
    assert page.evaluate("document.documentElement.lang") == "ko"
    assert page.evaluate(DRAWN), "no font has Hangul: install fonts-nanum"
    page.close()


def tags_of(page: str) -> set[str]:
    """Return the labels in the heads of tables, which are names of tags."""
    return set(re.findall(r'<th scope="col">([A-Z]-\w+)</th>', page))


@pytest.mark.parametrize("kind", ["tagger", "classifier"])
def test_labels_that_are_called_like_headings_are_not_translated(pages: dict[str, str], kind: str) -> None:
    heads = re.findall(r'<th scope="(?:col|row)">([^<]*)</th>', pages[kind])
    assert heads.count("Errors") >= 2  # in the scores and in the confusion
    assert heads.count("gold") >= 2
