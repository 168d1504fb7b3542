"""Explanation pages in a real browser, on small and large screens, in light and dark mode.

If these break, words are cut off, too faint or drawn as boxes, or a script in a text is executed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from gonie.metrics.classes import evaluate_classes
from gonie.reports.class_report import render_classes
from gonie.reports.explanation import Faithfulness, TagExplanation, TextExplanation, Transitions
from gonie.reports.explanations.tag_page import render_tags
from gonie.reports.explanations.text_page import render_texts
from gonie.text.labelled_text import LabelledText

pytestmark = pytest.mark.long

SIZES, THEMES = (400, 1400), ("light", "dark")
KOREAN = "정말 재미있는 영화"
LEAST_CONTRAST, LEAST_FONT = 4.5, 12  # WCAG 2 AA for text of normal size; pixels

# The colours as drawn: each background over those behind it, down to the page's.
MEASURE = """
() => {
  const parse = text => { const n = text.match(/[\\d.]+/g).map(Number); return n.length < 4 ? [...n, 1] : n }
  const over = (top, under) => [0, 1, 2].map(i => top[i] * top[3] + under[i] * (1 - top[3])).concat(1)
  const behind = e => {
    const own = parse(getComputedStyle(e).backgroundColor)
    return own[3] === 1 || !e.parentElement ? own : over(own, behind(e.parentElement))
  }
  const light = c => {
    const [r, g, b] = c.map(v => v / 255).map(v => v <= .03928 ? v / 12.92 : ((v + .055) / 1.055) ** 2.4)
    return .2126 * r + .7152 * g + .0722 * b
  }
  const all = '.w, .tagged mark, .tagged small, .weight, td, th, dt, dd, h1, h3, h4, p'
  const read = e => innerWidth < 640 && e.closest('.stack thead')  // read aloud, and shown beside each number
  const shown = [...document.querySelectorAll(all)].filter(e => e.checkVisibility() && !read(e))
  return shown.map(e => {
    const style = getComputedStyle(e), box = e.getBoundingClientRect()
    const [a, b] = [light(parse(style.color)), light(behind(e))].sort((x, y) => y - x)
    const held = e.closest('.scroll')
    return { text: e.textContent, held: !!held,
             left: box.left, right: box.right, wide: box.width, font: parseFloat(style.fontSize),
             contrast: (a + .05) / (b + .05) }
  })
}
"""


Open = Callable[..., Any]


@pytest.fixture
def show(browser: Any, tmp_path: Path) -> Iterator[Open]:
    """Open a page from a file. It must not request anything else or raise an error."""
    opened, asked, wrong = [], [], []

    def call(html: str, *, width: int = 1400, theme: str = "light", touch: bool = False) -> Any:
        file = tmp_path / "page.html"
        file.write_text(html, "utf-8")
        context = browser.new_context(
            viewport={"width": width, "height": 800}, color_scheme=theme, has_touch=touch
        )
        opened.append(context)
        context.route("**/*", lambda route: (asked.append(route.request.url), route.continue_()))
        page = context.new_page()
        page.on("pageerror", lambda error: wrong.append(str(error)))
        page.on("dialog", lambda dialog: wrong.append(dialog.message))
        page.goto(file.as_uri())
        return page

    yield call
    for context in opened:
        context.close()
    assert set(asked) <= {(tmp_path / "page.html").as_uri()}, asked
    assert wrong == []


@pytest.fixture
def pages(
    texts: Sequence[TextExplanation],
    tagged: Sequence[TagExplanation],
    moves: Transitions,
    figures: Sequence[Faithfulness],
) -> dict[str, str]:
    """One page of each kind, and an evaluation report, which has the same frame."""
    return {
        "texts": render_texts(texts, figures, title="runs/nsmc", notes=["A remark."]),
        "tags": render_tags(tagged, moves, figures, title="runs/ner"),
        "report": render_classes(
            evaluate_classes(
                [LabelledText(KOREAN, ("긍정",)), LabelledText("dull", ("부정",))],
                [("부정",), ("부정",)],
                [[0.25, 0.75]] * 2,
                ["긍정", "부정"],
                bootstrap=20,
            ),
            title="runs/nsmc",
        ),
    }


@pytest.mark.parametrize("theme", THEMES)
@pytest.mark.parametrize("width", SIZES)
@pytest.mark.parametrize("kind", ["texts", "tags", "report"])
def test_everything_is_visible_and_legible(
    show: Open, pages: dict[str, str], kind: str, width: int, theme: str
) -> None:
    page = show(pages[kind], width=width, theme=theme)
    page.evaluate("document.querySelectorAll('details').forEach(each => each.open = true)")
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    found = page.evaluate(MEASURE)
    assert len(found) > 20
    for each in found:
        assert each["font"] >= LEAST_FONT, each
        assert each["contrast"] >= LEAST_CONTRAST, each
        if not each["held"]:  # a wide table scrolls in its own box
            assert each["left"] >= 0, each
            assert each["right"] <= width, each
        assert each["wide"] > 0 or not each["text"], each


def drawn(page: Any, text: str) -> str:
    """Return the pixels of a text in the page's font, as a string."""
    return str(
        page.evaluate(
            """text => {
              const canvas = document.createElement('canvas'), pen = canvas.getContext('2d')
              pen.font = getComputedStyle(document.querySelector('p:lang(ko)')).font
              pen.fillText(text, 5, 50)
              return canvas.toDataURL()
            }""",
            text,
        )
    )


@pytest.mark.parametrize("kind", ["texts", "tags", "report"])
def test_hangul_is_drawn_with_its_own_glyphs(show: Open, pages: dict[str, str], kind: str) -> None:
    """Without a suitable font, every syllable is the same box."""
    page = show(pages[kind])
    missing = drawn(page, "\U0010fffe")  # a code point that no font has
    signs = {drawn(page, syllable) for syllable in ("서", "울", "재", "ㅋ")}
    assert len(signs) == 4
    assert missing not in signs


def test_a_korean_line_breaks_between_words(show: Open, texts: Sequence[TextExplanation]) -> None:
    page = show(render_texts([texts[2]], [], title="t"), width=400)
    words = page.locator(".heat:lang(ko) .w").all()
    assert len(words) > 5
    for word in words:
        assert len(word.evaluate("e => [...e.getClientRects()].map(box => box.top)")) == 1


def test_the_text_is_shown_unchanged(show: Open, texts: Sequence[TextExplanation]) -> None:
    page = show(render_texts([texts[0]], [], title="t"))
    first = page.locator(".heat").first
    first.evaluate("e => e.querySelectorAll('i').forEach(i => i.remove())")
    assert first.evaluate("e => e.textContent") == texts[0].text
    assert first.evaluate("e => getComputedStyle(e.querySelector('p')).whiteSpace") == "pre-wrap"


@pytest.mark.parametrize("width", SIZES)
def test_numbers_appear_on_hover_touch_and_keyboard_focus(
    show: Open, texts: Sequence[TextExplanation], width: int
) -> None:
    page = show(render_texts(texts[:1], [], title="t"), width=width, touch=True)
    words = page.locator(".heat.sides .w")
    assert not words.first.locator("i").is_visible()
    words.first.hover()
    assert words.first.locator("i").is_visible()
    words.nth(1).tap()
    assert words.nth(1).locator("i").is_visible()
    page.mouse.move(0, 0)
    page.evaluate("document.activeElement.blur()")
    seen = set()
    for _ in range(60):
        page.keyboard.press("Tab")
        number = page.locator(".w:focus i")
        if number.count():
            assert number.is_visible()
            box = number.bounding_box()
            assert box["x"] >= 0
            assert box["x"] + box["width"] <= width
            seen.add(number.inner_text())
    assert len(seen) > 5


@pytest.mark.parametrize("theme", THEMES)
def test_a_hostile_text_is_shown_and_not_executed(
    show: Open,
    explain_text: Callable[..., TextExplanation],
    figures: Sequence[Faithfulness],
    hostile: str,
    theme: str,
) -> None:
    each = explain_text(hostile, label=hostile)
    page = show(render_texts([each], figures, title=hostile, notes=[hostile]), theme=theme)
    for word in page.locator(".w").all()[:30]:
        word.hover()
    assert page.title() not in ("owned", "1", "2")
    assert page.evaluate("document.scripts.length") == 0
    assert page.evaluate("document.images.length") == 0
    text = page.locator("main").inner_text()
    for due in ("<script>", "</style>", '" onmouseover=', "a␀b", "שלום", "https://evil.example/x"):
        assert due in text
    assert page.locator(".heat").first.is_visible()


def test_a_text_of_five_thousand_words_opens(
    show: Open, explain_text: Callable[..., TextExplanation]
) -> None:
    each = explain_text("The film was long, and 정말 재미있다 all the same. " * 450, by=".")
    html = render_texts([each], [], title="t")
    assert len(html) < 3_000_000
    page = show(html, width=400)
    assert page.locator(".heat.share .w").count() == sum(map(len, each.passage.sentences)) > 5000
    assert page.evaluate("document.documentElement.scrollWidth") <= 400
