"""The page of the service in a real browser, against a real service with small models."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any
from urllib.request import urlopen

import pytest

from gonie.reports.html.colors import label_classes
from support.page_visits import Visit, check_accessibility
from support.running_service import RunningService

pytestmark = pytest.mark.long

TEXT = "Anna Kim lives in Seoul. we met Dora."
WIDTHS = {"phone": 375, "tablet": 768, "desktop": 1440}
HOSTILE = (
    "<img src=x onerror=alert(1)> <script>alert(2)</script> Anna lives in Seoul. "
    "שלום Paris مرحبا \u202eOslo\u202c zero\u200bwidth\u200d 👩‍🔬 Dora 🗼 \u0000 &amp; {n} ${x}"
)
KOREAN = {"김철수": "PS", "이영희": "PS", "서울": "LC", "부산": "LC", "제주": "LC"}
KOREAN_FRAMES = ("{PS} {LC} 삽니다 .", "{LC} 비 옵니다 .", "오늘 {PS} {PS} 만났습니다 .", "날씨 좋습니다 .")


# --- models and services


def korean_sentences(number: int) -> str:
    """Return Korean sentences with names of people and places, in CoNLL format."""
    blocks = []
    for at in range(number):
        turn = at
        rows = []
        for word in KOREAN_FRAMES[at % len(KOREAN_FRAMES)].split():
            names = [name for name, kind in KOREAN.items() if f"{{{kind}}}" == word]
            turn += 3
            shown = names[turn % len(names)] if names else word
            rows.append(f"{shown}\t{'B-' + KOREAN[shown] if names else 'O'}")
        blocks.append("\n".join(rows))
    return "\n\n".join(blocks) + "\n"


@pytest.fixture(scope="module")
def models(
    toy: Path, toy_run: Path, text_toy: Path, pair_runs: Path, tmp_path_factory: pytest.TempPathFactory
) -> Mapping[str, Path]:
    """Train models of every task: two taggers that differ, a Korean one, one of plain tags, classifiers."""
    from tests.conftest import Silence

    from gonie.tasks.recipe import load_recipe
    from gonie.training.run import start_run

    folder = tmp_path_factory.mktemp("served")

    def train(name: str, recipe: str, files: Mapping[str, str]) -> Path:
        own = folder / f"{name}-data"
        own.mkdir()
        for file, content in files.items():
            (own / file).write_text(content, "utf-8")
        (own / "recipe.toml").write_text(recipe.replace(str(toy), str(own)), "utf-8")
        assert start_run(load_recipe(own / "recipe.toml"), folder / name, Silence()) is not None
        return folder / name

    recipe = (toy / "toy.toml").read_text("utf-8")
    splits = {file.name: file.read_text("utf-8") for file in toy.glob("*.conll")}
    others = {
        name: text.replace("B-LOC", "B-GEO").replace("Dora\tB-PER", "Dora\tO")
        for name, text in splits.items()
    }
    plain = {
        name: re.sub(r"\t\S+", lambda tag: {"\tO": "\tword"}.get(tag[0], "\tname"), text)
        for name, text in splits.items()
    }
    korean = {name: korean_sentences(60) for name in splits}
    in_korean = recipe.replace("[data]", '[data]\nlanguage = "ko"\nunit = "eojeol"')
    assert start_run(load_recipe(text_toy / "texts.toml"), folder / "reviews", Silence()) is not None
    return {
        "people": toy_run,
        "places": train("places", recipe, others),
        "korean": train("korean", in_korean, korean),
        "plain": train("plain", recipe, plain),
        "reviews": folder / "reviews",
        "again": folder / "reviews",
        "pairs": pair_runs / "labels",
        "values": pair_runs / "values",
    }


@pytest.fixture(scope="module")
def service(models: Mapping[str, Path]) -> Iterator[str]:
    """Run a service with all models. Yield its address."""
    with RunningService(*(f"{name}={path}" for name, path in models.items())) as running:
        yield f"http://127.0.0.1:{running.port}"


@pytest.fixture(scope="module")
def locked(models: Mapping[str, Path], tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, str]]:
    """Run a service with an API key. Yield its address and the key."""
    keys = tmp_path_factory.mktemp("keys") / "keys.txt"
    command = [sys.executable, "-m", "gonie", "serve", "--new-key", "test", "--keys", str(keys)]
    made = subprocess.run(command, capture_output=True, text=True, check=False)
    assert made.returncode == 0, made.stderr
    key = next(word for line in made.stdout.splitlines() for word in line.split() if len(word) > 20)
    headers = {"Authorization": f"Bearer {key}"}
    with RunningService(f"people={models['people']}", "--keys", keys, headers=headers) as running:
        yield f"http://127.0.0.1:{running.port}", key


# --- visits


@pytest.fixture
def visit(browser: Any, service: str) -> Iterator[Callable[..., Visit]]:
    """Return a function that opens the page. Nothing may go wrong in any visit."""
    visits: list[tuple[Visit, Any]] = []

    def start(language: str = "en-US", width: int = 1440, address: str = service, **options: Any) -> Visit:
        context = browser.new_context(locale=language, viewport={"width": width, "height": 900}, **options)
        context.grant_permissions(["clipboard-read", "clipboard-write"])
        context.set_default_timeout(120_000)
        found = Visit(context.new_page(), address)
        visits.append((found, context))
        return found

    yield start
    for found, context in visits:
        context.close()
        assert found.wrong == []


LANGUAGES = pytest.mark.parametrize("language", ["en-US", "ko-KR"])


def probability(shown: str) -> float:
    """Return a probability as the page writes it: never as 0 or 1."""
    assert shown not in {"0.00", "1.00"}
    return float(shown.lstrip("<>"))


# --- texts and spans


@LANGUAGES
def test_spans_appear_as_one_types(visit: Callable[..., Visit], language: str) -> None:
    seen = visit(language).open(model="people", text="Seoul is far.")
    seen.settle()
    assert seen.types() == [("Seoul", "LOC")]
    seen.page.click("#text-0")
    seen.page.keyboard.press("Control+End")
    seen.page.keyboard.type(" Anna lives in Oslo.")
    seen.settle()
    assert seen.types() == [("Seoul", "LOC"), ("Anna", "PER"), ("Oslo", "LOC")]
    assert re.fullmatch(r"PER (>0\.99|0\.\d\d)", seen.marks()[1][1])
    assert seen.page.text_content("#left") == "Seoul is far. Anna lives in Oslo."
    assert seen.page.evaluate("document.documentElement.lang") == language[:2]
    expected = "3 spans: 2 LOC, 1 PER" if language == "en-US" else "개체명 3개: LOC 2개, PER 1개"
    seen.until(f"document.querySelector('#status').textContent === {expected!r}")
    assert seen.page.get_attribute("#status", "role") == "status"


def test_the_colours_of_types_are_those_of_reports(visit: Callable[..., Visit]) -> None:
    labels = ["PER", "LOC", "ORG", "ORG", "가", "é", "Z", "a", "\U0001f600", "\uff21", "x", "y", "z", "DATE"]
    seen = visit().open(model="people")
    given = seen.page.evaluate(
        "async labels => Object.fromEntries((await import('/assets/colors.js')).labelClasses(labels))", labels
    )
    assert given == label_classes(labels)
    seen.type(TEXT)
    assert seen.page.get_attribute("#left mark >> nth=0", "class") == label_classes(["LOC", "PER"])["PER"]


def test_only_the_newest_text_is_sent_and_shown(visit: Callable[..., Visit]) -> None:
    seen = visit().open(model="people", text="it rains.")
    seen.settle()
    running, most, bodies = [], [], []

    def slow(route: Any) -> None:
        running.append(1)
        most.append(len(running))
        bodies.append(route.request.post_data_json["texts"][0])
        seen.page.wait_for_timeout(300)
        running.pop()
        route.continue_()

    seen.page.route("**/v1/tag", slow)
    seen.page.click("#text-0")
    seen.page.keyboard.press("Control+End")
    for part in (" Anna", " lives", " in", " Seoul."):
        seen.page.keyboard.type(part)
        seen.page.wait_for_timeout(200)
    seen.settle()
    assert max(most) == 1
    assert bodies[-1] == "it rains. Anna lives in Seoul."
    assert seen.types() == [("Anna", "PER"), ("Seoul", "LOC")]


def test_composing_hangul_is_not_disturbed(visit: Callable[..., Visit]) -> None:
    seen = visit("ko-KR").open(model="korean", text="오늘 ")
    seen.settle()
    seen.page.click("#text-0")
    seen.page.keyboard.press("Control+End")
    keyboard = seen.page.context.new_cdp_session(seen.page)
    for stage in ("ㅅ", "서", "성", "서우", "서울"):
        keyboard.send(
            "Input.imeSetComposition",
            {"text": stage, "selectionStart": len(stage), "selectionEnd": len(stage)},
        )
        seen.settle()
        assert seen.page.input_value("#text-0") == f"오늘 {stage}"
        assert seen.page.evaluate("document.activeElement.id") == "text-0"
    assert seen.page.text_content("#left") == "오늘 서울"
    keyboard.send("Input.insertText", {"text": "서울"})
    seen.page.keyboard.type(" 비 옵니다.")
    seen.settle()
    assert seen.page.input_value("#text-0") == "오늘 서울 비 옵니다."
    assert ("서울", "LC") in seen.types()


def test_offsets_are_right_after_emoji(visit: Callable[..., Visit]) -> None:
    seen = visit().open(model="people")
    seen.type("👩‍🔬🗼 Anna lives in Seoul. 😀😀 Oslo is far.")
    assert seen.types() == [("Anna", "PER"), ("Seoul", "LOC"), ("Oslo", "LOC")]
    seen.page.click("#left mark >> nth=1")
    seen.settle()
    assert seen.page.eval_on_selector_all(".heat .chosen", "all => all.map(w => w.textContent)") == ["Seoul"]


@LANGUAGES
def test_hostile_texts_stay_texts(visit: Callable[..., Visit], language: str) -> None:
    seen = visit(language).open(model="people", compare="places")
    text = HOSTILE.replace("\0", "\x01")
    seen.type(text)
    assert seen.page.text_content("#left") == text
    assert ("Dora", "PER") in seen.types()
    for name in ("tokens", "nbest", "dial", "transitions", "copy", "why"):
        seen.tab(name)
    seen.expected = "status of 422"  # a piece of two sentences
    seen.page.fill("#panel-why input", "<img src=x onerror=alert(1)>")
    seen.page.click("#panel-why button")
    seen.settle()
    assert seen.page.locator("img, script:not([src])").count() == 0
    assert seen.page.evaluate("document.documentElement.scrollWidth <= innerWidth")


def test_a_long_text_stays_usable(visit: Callable[..., Visit]) -> None:
    seen = visit(width=375).open(model="people", compare="places")
    text = ("Anna Kim lives in Seoul. " * 2000)[:50_000]
    seen.page.fill("#text-0", text)
    seen.page.wait_for_selector("#left mark >> nth=3999", state="attached")
    assert seen.page.text_content("#left") == text
    drawn = seen.page.evaluate(
        """() => { const area = document.getElementById('text-0')
           const watch = new MutationObserver(() => {})
           watch.observe(document.getElementById('sides'), {childList: true, subtree: true})
           area.setRangeText('Oslo ', 0, 0); area.dispatchEvent(new InputEvent('input', {bubbles: true}))
           return watch.takeRecords().length }"""
    )
    assert drawn == 0, "typing does not wait for drawing"
    seen.until("document.getElementById('left').textContent.startsWith('Oslo ')", 60)
    assert seen.page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    assert "#" not in seen.page.url or len(seen.page.url) < 1000
    panel = seen.tab("tokens")
    panel.locator(".token").first.wait_for()
    assert panel.locator(".token").count() < 100


# --- problems


@LANGUAGES
def test_problems_are_told_and_busy_services_asked_again(visit: Callable[..., Visit], language: str) -> None:
    seen = visit(language).open(model="people", text="it rains.")
    seen.settle()
    seen.expected = "status of (429|422)"
    waiting: list[Any] = []

    def wait(route: Any) -> None:
        waiting.append(route)

    def fail(status: int, type: str, detail: str, **headers: str) -> None:
        """Answer the next request by a problem. The page waits for it, whatever the test does before."""
        seen.until_here(lambda: waiting)
        body = json.dumps({"type": f"urn:gonie:{type}", "status": status, "detail": detail})
        kind = {"Content-Type": "application/problem+json"}
        waiting.pop().fulfill(status=status, headers={**headers, **kind}, body=body)

    seen.page.route("**/v1/tag", wait)
    seen.page.fill("#text-0", "Seoul is far.")
    fail(429, "queue-full", "256 requests wait", **{"Retry-After": "1"})
    seen.page.wait_for_selector("#problem .warning")
    assert "256 requests wait" in seen.text("#problem")
    assert ("again in 1 s" in seen.text("#problem")) == (language == "en-US")
    fail(422, "too-many-tokens", "60,000 tokens <b>")
    seen.until("document.querySelector('#problem').textContent.includes('60,000')")
    assert "<b>" in seen.text("#problem")
    assert seen.page.get_attribute("#problem", "role") == "alert"
    seen.page.unroute("**/v1/tag")
    seen.type("Oslo is far.")
    assert seen.text("#problem") == ""
    assert seen.types() == [("Oslo", "LOC")]


@LANGUAGES
def test_an_unreachable_service_is_told_and_found_again(visit: Callable[..., Visit], language: str) -> None:
    seen = visit(language).open(model="people", text="it rains.")
    seen.settle()
    seen.expected = "ERR_INTERNET_DISCONNECTED"
    seen.page.context.set_offline(True)
    seen.page.fill("#text-0", "Seoul is far.")
    seen.page.wait_for_selector("#problem .warning")
    assert ("does not answer" in seen.text("#problem")) == (language == "en-US")
    seen.page.context.set_offline(False)
    seen.page.wait_for_selector("#left mark")
    assert seen.text("#problem") == ""


@LANGUAGES
def test_an_api_key_is_asked_for_and_kept_for_the_tab(
    visit: Callable[..., Visit], locked: tuple[str, str], language: str
) -> None:
    address, key = locked
    seen = visit(language, address=address)
    seen.expected = "status of 401"
    seen.page.goto(f"{address}/#model=people&text=Seoul%20is%20far.")
    seen.page.wait_for_selector("#key-dialog[open]")
    assert seen.page.evaluate("document.activeElement.id") == "key-input"
    seen.page.fill("#key-input", "wrong")
    seen.page.keyboard.press("Enter")
    seen.page.wait_for_selector("#key-wrong:not([hidden])")
    check_accessibility(seen)
    seen.page.fill("#key-input", key)
    seen.page.keyboard.press("Enter")
    seen.page.wait_for_selector("#left mark")
    assert key in seen.page.evaluate("JSON.stringify(sessionStorage)")
    assert key not in seen.page.evaluate("JSON.stringify(localStorage) + document.cookie + location.href")
    seen.tab("copy")
    assert "$GONIE_KEY" in seen.text("#panel-copy code")
    assert key not in seen.page.content()
    seen.page.reload()
    seen.page.wait_for_selector("#left mark")
    assert seen.page.locator("#key-dialog[open]").count() == 0


# --- details of taggers


@LANGUAGES
def test_tokens_show_their_most_probable_tags(visit: Callable[..., Visit], language: str) -> None:
    seen = visit(language).open(model="people", text=TEXT)
    panel = seen.tab("tokens")
    assert panel.locator(".token bdi").all_inner_texts() == ["Anna", "Kim", "lives", "in", "Seoul", "."]
    panel.locator(".token", has_text="Seoul").hover()
    assert "Seoul" in panel.locator("h3").inner_text()
    assert panel.locator(".bars li .name").first.inner_text().endswith("LOC")
    shares = [probability(each) for each in panel.locator(".bars .number").all_inner_texts()]
    assert shares == sorted(shares, reverse=True)
    assert 2 < len(shares) <= 6
    panel.locator('.token[tabindex="0"]').focus()
    seen.page.keyboard.press("Home")
    seen.page.keyboard.press("ArrowRight")
    assert "Kim" in panel.locator("h3").inner_text()
    panel.locator('[data-step="1"]').click()
    seen.settle()
    assert panel.locator(".token bdi").all_inner_texts() == ["we", "met", "Dora", "."]
    assert ("Sentence 2 of 2" if language == "en-US" else "문장 2/2") in panel.inner_text()


@LANGUAGES
def test_alternatives_are_ranked_by_probability(visit: Callable[..., Visit], language: str) -> None:
    seen = visit(language).open(model="people", text=TEXT)
    panel = seen.tab("nbest")
    scores = [probability(each) for each in panel.locator(".number").all_inner_texts()]
    assert len(scores) == 5
    assert scores == sorted(scores, reverse=True)
    assert seen.types("#panel-nbest li:first-child") == [("Anna Kim", "PER"), ("Seoul", "LOC")]
    assert seen.types("#panel-nbest li:nth-child(2)") != seen.types("#panel-nbest li:first-child")


@LANGUAGES
def test_transitions_are_a_table(visit: Callable[..., Visit], language: str) -> None:
    seen = visit(language).open(model="people")
    panel = seen.tab("transitions")
    with urlopen(f"{seen.address}/v1/models") as answer:
        own = json.load(answer)["models"][0]["transitions"]
    labels = panel.locator("thead th").all_inner_texts()[1:-1]
    assert labels == own["labels"]
    assert panel.locator("tbody tr").count() == len(labels) + 1
    forbidden = "forbidden" if language == "en-US" else "금지"
    row = panel.locator("tbody tr").nth(1)
    for at, score in enumerate(own["scores"][0]):
        shown = row.locator("td").nth(at).inner_text()
        assert (
            (forbidden in shown)
            if score is None
            else float(shown.replace("−", "-")) == pytest.approx(score, abs=0.06)
        )
    zeros = panel.locator("td").filter(has_text=re.compile(r"^0\.0+$"))
    shades = zeros.evaluate_all("all => all.map(cell => cell.className)")
    assert set(shades) <= {"heat-cell h0"}


def test_certain_probabilities_are_not_written_as_0_or_1(visit: Callable[..., Visit]) -> None:
    seen = visit().open(model="people")
    values = "[0, 0.004, 0.006, 0.994, 0.996, 1, null]"
    shown = seen.page.evaluate(f"async () => {values}.map((await import('/assets/language.js')).probability)")
    assert shown == ["<0.01", "<0.01", "0.01", "0.99", ">0.99", ">0.99", "–"]


@pytest.mark.parametrize("tab", ["tokens", "nbest"])
def test_probabilities_fit_beside_their_bars_on_a_phone(visit: Callable[..., Visit], tab: str) -> None:
    panel = visit(width=375).open(model="people", text=TEXT).tab(tab)
    numbers = panel.locator(".number")
    numbers.evaluate_all("all => all.forEach(each => { each.textContent = '>0.99' })")
    assert numbers.count() > 1
    assert numbers.evaluate_all("all => all.every(each => each.scrollWidth <= each.clientWidth)")


def test_transitions_that_round_to_zero_have_no_colour(visit: Callable[..., Visit]) -> None:
    seen = visit().open(model="people")
    seen.page.evaluate(
        """async () => {
          const { drawTransitions } = await import('/assets/transitions.js')
          const transitions = { labels: ['O'], scores: [[-0.0049]], start: [0.03], end: [-0.06] }
          const model = { command: 'tag', labels: ['O'], types: ['X'], transitions }
          drawTransitions(document.querySelector('#panel-transitions'), { model })
        }"""
    )
    cells = seen.page.eval_on_selector_all(
        "#panel-transitions td.heat-cell", "all => all.map(c => [c.textContent, c.className])"
    )
    assert cells == [["0.03", "heat-cell h5"], ["0.00", "heat-cell h0"], ["−0.06", "heat-cell n10 against"]]


@LANGUAGES
def test_sliders_change_what_is_found(visit: Callable[..., Visit], language: str) -> None:
    seen = visit(language).open(model="people", text=TEXT)
    panel = seen.tab("dial")
    assert panel.locator("input[type=range]").count() == 2
    slider = panel.locator('input[data-type="LOC"]')
    assert (slider.get_attribute("min"), slider.get_attribute("max")) == ("-4", "4")
    before = seen.types()
    slider.fill("-4")
    seen.settle()
    panel.locator('input[data-type="PER"]').fill("4")
    seen.settle()
    changed = seen.types()
    rows = panel.locator(".difference-list li").all_inner_texts()
    assert len(set(before) ^ set(changed)) >= len(rows)
    assert bool(rows) == (before != changed)
    seen.until("location.hash.includes('bias=LOC%3D-4')")
    panel.locator("input[value=posterior]").check()
    seen.settle()
    seen.tab("copy")
    code = seen.text("#panel-copy code")
    assert '"decode":"posterior"' in code
    assert '"LOC":-4' in code
    seen.tab("dial")
    panel.locator("button.reset").click()
    seen.settle()
    assert seen.types() == before
    assert slider.input_value() == "0"
    assert panel.locator("input[value=viterbi]").is_checked()


def test_sliders_are_moved_by_the_keyboard_without_losing_the_focus(visit: Callable[..., Visit]) -> None:
    seen = visit().open(model="people", text=TEXT)
    panel = seen.tab("dial")
    panel.locator('input[data-type="PER"]').focus()
    for _ in range(3):
        seen.page.keyboard.press("ArrowRight")
        seen.settle()
    assert (
        seen.page.evaluate("document.activeElement.dataset.type + document.activeElement.value") == "PER0.75"
    )
    assert panel.locator("output").nth(1).inner_text() == "+0.75"


# --- why


@LANGUAGES
def test_why_a_span_was_tagged(visit: Callable[..., Visit], language: str) -> None:
    seen = visit(language).open(model="people", text=TEXT)
    seen.settle()
    seen.page.click("#left mark >> nth=1")
    seen.settle()
    panel = seen.page.locator("#panel-why")
    assert "Seoul" in panel.locator(".verdict").inner_text()
    assert "LOC" in panel.locator(".verdict").inner_text()
    words = seen.page.eval_on_selector_all(".heat .w", "all => all.map(w => w.textContent)")
    assert words == ["Anna", "Kim", "lives", "in", "Seoul", "."]
    assert seen.page.locator(".heat .w.h10, .heat .w.n10").count() >= 1
    assert panel.locator(".strongest dt").count() == 2
    told = "run gonie explain RUN" if language == "en-US" else "gonie explain RUN --on FILE을 실행하세요"
    assert told in panel.inner_text()


@LANGUAGES
def test_a_list_of_words_says_if_it_is_cut(visit: Callable[..., Visit], language: str) -> None:
    seen = visit(language).open(model="people")
    heads = seen.page.evaluate(
        """async () => {
          const { strongestWords } = await import('/assets/heat.js')
          const tokens = [...'abcdefghi'].map(text => ({ text }))
          const lists = strongestWords(tokens, [1, 2, 3, 4, 5, 6, 7, -1, 0], 'price')
          return [...lists.querySelectorAll('dt')].map(each => each.textContent)
        }"""
    )
    some = "(5 of 7)" if language == "en-US" else "(7개 중 5개)"
    assert heads[0].endswith(some)
    assert "(" not in heads[1]


@LANGUAGES
def test_why_a_selected_piece_was_not_tagged(visit: Callable[..., Visit], language: str) -> None:
    seen = visit(language).open(model="people", text=TEXT)
    seen.settle()
    seen.page.evaluate(
        """() => { const text = document.getElementById('left').childNodes[1]
           getSelection().setBaseAndExtent(text, 2, text, 5) }"""  # is widened to "lives"
    )
    button = seen.page.locator("#why-not")
    button.wait_for()
    assert ("Why not" in button.inner_text()) == (language == "en-US")
    button.click()
    seen.settle()
    panel = seen.page.locator("#panel-why")
    assert re.search("lives.*(PER|LOC)", panel.locator(".verdict").inner_text())  # the likeliest type
    panel.locator("select").select_option("PER")
    panel.locator("button").click()
    seen.settle()
    verdict = panel.locator(".verdict").inner_text()
    assert "lives" in verdict
    assert ("is not tagged PER" if language == "en-US" else "태깅하지 않았습니다") in verdict
    assert ("preferred: not tagged" if language == "en-US" else "모델의 선택: 태깅 안 함") in verdict
    assert panel.locator(".heat .chosen").inner_text() == "lives"


def test_why_by_keyboard_alone(visit: Callable[..., Visit]) -> None:
    seen = visit().open(model="people", text=TEXT)
    seen.settle()
    seen.page.focus("#left mark[tabindex='0']")
    seen.page.keyboard.press("ArrowRight")
    assert seen.page.evaluate("document.activeElement.textContent") == "Seoul"
    seen.page.keyboard.press("Enter")
    seen.settle()
    assert "Seoul" in seen.text("#panel-why .verdict")
    seen.page.focus("#text-0")
    seen.page.keyboard.press("Control+Home")
    seen.page.keyboard.press("Control+Shift+ArrowRight")
    seen.until("document.getElementById('why-not').innerText === 'Why not tagged?'")
    seen.page.focus("#panel-why input")
    seen.page.fill("#panel-why input", "Anna")
    seen.page.keyboard.press("Tab")
    seen.page.keyboard.type("P")
    seen.page.focus("#panel-why input")
    seen.page.keyboard.press("Enter")
    seen.settle()
    assert "is not tagged PER" in seen.text("#panel-why .verdict")
    assert "Anna Kim" in seen.text("#panel-why .verdict")
    seen.page.fill("#panel-why input", "Berlin")
    seen.page.keyboard.press("Enter")
    seen.settle()
    assert "is not in the text" in seen.text("#panel-why .out")


def test_why_asks_about_the_occurrence_that_was_selected(visit: Callable[..., Visit]) -> None:
    seen = visit().open(model="people", text="Anna lives in Seoul. Bert lives in Oslo. Seoul is far.")
    seen.settle()
    for at, sentence in ((5, "Anna lives in Seoul."), (26, "Bert lives in Oslo.")):
        seen.page.focus("#text-0")
        seen.page.evaluate(
            """([at, end]) => new Promise((noticed) => {
                document.addEventListener("selectionchange", () => setTimeout(noticed), {once: true});
                document.getElementById("text-0").setSelectionRange(at, end);
            })""",
            [at, at + 5],
        )  # the page learns of a selection by an event, and Tab must not come before it
        seen.page.keyboard.press("Tab")  # the offer stays
        seen.page.locator("#why-not").click()
        seen.settle()
        assert seen.text("#panel-why .heat") == sentence
        assert seen.text("#panel-why .heat .chosen") == "lives"


# --- comparing


@LANGUAGES
def test_two_taggers_side_by_side(visit: Callable[..., Visit], language: str) -> None:
    seen = visit(language).open(model="people", text=TEXT)
    seen.page.select_option("#other", "places")
    seen.settle()
    assert seen.types("#left") == [("Anna Kim", "PER"), ("Seoul", "LOC"), ("Dora", "PER")]
    assert seen.types("#right") == [("Anna Kim", "PER"), ("Seoul", "GEO")]
    classes = seen.page.eval_on_selector_all(
        "#left mark", "all => all.map(m => m.className.split(' ')[1] ?? '')"
    )
    assert classes == ["", "other", "only"]
    line = seen.text("#differences .difference-line")
    expected = (
        "1 the same, 1 only in people, 0 only in places, 1 with another type"
        if language == "en-US"
        else "일치 1개, people에만 1개, places에만 0개, 유형이 다른 것 1개"
    )
    assert line == expected
    assert seen.page.locator("#differences tbody tr").count() == 2
    options = seen.page.eval_on_selector_all("#other option", "all => all.map(o => o.value)")
    assert options == ["", "places", "korean", "plain"]


@LANGUAGES
def test_two_classifiers_side_by_side(visit: Callable[..., Visit], language: str) -> None:
    seen = visit(language).open(model="reviews", compare="again", text="The plot is lovely.")
    seen.settle()
    assert seen.text("#left .answer") == seen.text("#right .answer")
    assert ("Both models give the label" if language == "en-US" else "두 모델의 레이블") in seen.text(
        "#differences"
    )


# --- classifiers, pairs, plain tags


@LANGUAGES
def test_a_classifier_shows_labels_and_heat_maps(visit: Callable[..., Visit], language: str) -> None:
    seen = visit(language).open(model="reviews", text="The plot is lovely. The cast is dull.")
    seen.settle()
    rows = seen.page.locator("#left .bars li")
    assert rows.count() == 2
    shares = [probability(each) for each in seen.page.locator("#left .bars .number").all_inner_texts()]
    assert sum(shares) == pytest.approx(1, abs=0.02)
    panel = seen.page.locator("#panel-why")
    assert panel.locator(".map h3").all_inner_texts() == (
        ["Erasure", "Attention"] if language == "en-US" else ["단어 제거", "어텐션"]
    )
    assert seen.page.eval_on_selector_all(".map:first-child .w", "all => all.length") == 10
    panel.locator("select").select_option("bad")
    seen.settle()
    first = panel.locator(".strongest dt").first.inner_text()
    assert "bad" in first
    assert seen.page.locator("#tab-dial").is_hidden()


@LANGUAGES
def test_pairs_have_two_texts(visit: Callable[..., Visit], language: str) -> None:
    seen = visit(language).open(model="pairs")
    seen.settle()
    assert seen.page.input_value("#text-1")  # an example
    seen.type("The plot is lovely.")
    seen.type("The film is dull.", "#text-1")
    assert seen.page.locator("#left .bars li").count() == 2
    heats = seen.page.locator(".map").first.locator(".heat").all_inner_texts()
    assert heats == ["The plot is lovely.", "The film is dull."]
    seen.tab("copy")
    assert '"pairs":[["The plot is lovely.","The film is dull."]]' in seen.text("#panel-copy code")
    labels = [seen.page.inner_text(f"label[for=text-{at}]") for at in (0, 1)]
    assert labels == (
        ["First text", "Second text"] if language == "en-US" else ["첫째 텍스트", "둘째 텍스트"]
    )


def test_pairs_with_a_value(visit: Callable[..., Visit]) -> None:
    seen = visit().open(model="values")
    seen.settle()
    assert re.fullmatch(r"-?\d\.\d\d", seen.text("#left .answer b"))


def test_plain_tags_mark_every_token(visit: Callable[..., Visit]) -> None:
    seen = visit().open(model="plain", text="Seoul is far.")
    seen.settle()
    assert seen.types() == [("Seoul", "name"), ("is", "word"), ("far", "word"), (".", "word")]
    seen.tab("nbest")
    assert len(seen.types("#panel-nbest li:first-child")) == 4


# --- copying, links, models, languages


def test_copies_are_what_they_say(visit: Callable[..., Visit]) -> None:
    text = "👩‍🔬 Anna's in Seoul."
    seen = visit().open(model="people", text=text)
    panel = seen.tab("copy")
    command = seen.copied(panel.locator("button.primary"))
    ran = subprocess.run(["bash", "-c", f"{command} -s"], capture_output=True, text=True, check=True)
    answer = json.loads(ran.stdout)
    (document,) = answer["documents"]
    assert document["text"] == text
    assert document["spans"]
    for place in (*document["spans"], *document["tokens"]):
        assert text[place["start"] : place["end"]] == place["text"], "offsets count code points"
    panel.locator("input[value=json]").check()
    assert json.loads(seen.copied(panel.locator("button.primary"))) == answer
    panel.locator("input[value=python]").check()
    seen.tab("dial").locator('input[data-type="PER"]').fill("2")
    seen.settle()
    code = seen.tab("copy").locator("code").inner_text()
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert 'bias={"PER":2}' in code
    assert "LOC 'Seoul'" in ran.stdout


def test_copied_python_of_a_pair_runs(visit: Callable[..., Visit]) -> None:
    seen = visit().open(model="pairs")
    seen.type("The plot is lovely.")
    panel = seen.tab("copy")
    panel.locator("input[value=python]").check()
    code = panel.locator("code").inner_text()
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert "The plot is lovely." in ran.stdout


@LANGUAGES
def test_a_link_brings_everything_back(visit: Callable[..., Visit], language: str) -> None:
    seen = visit(language).open(
        model="places", compare="people", text=TEXT, bias="GEO=1.5", decode="posterior"
    )
    seen.settle()
    panel = seen.tab("copy")
    link = seen.copied(panel.locator(".actions button").nth(1))
    other = visit(language)
    other.page.goto(link)
    other.page.wait_for_selector("#left mark")
    assert other.page.input_value("#text-0") == TEXT
    assert other.page.input_value("#model") == "places"
    assert other.page.input_value("#other") == "people"
    panel = other.tab("dial")
    assert panel.locator('input[data-type="GEO"]').input_value() == "1.5"
    assert panel.locator("input[value=posterior]").is_checked()
    assert not any("Seoul" in url.split("#")[0] for url in other.asked)


def test_links_with_nonsense_are_read_as_far_as_they_make_sense(visit: Callable[..., Visit]) -> None:
    seen = visit().open(model="nobody", compare="ghost", decode="x", bias="__proto__=1", text="Seoul is far.")
    seen.settle()
    assert seen.page.input_value("#model") == "people"
    assert seen.types() == [("Seoul", "LOC")]


def test_a_text_that_is_too_long_stays_out_of_the_link(visit: Callable[..., Visit]) -> None:
    seen = visit().open(model="people")
    seen.type("Anna lives in Seoul. " * 250)
    seen.tab("copy")
    seen.page.wait_for_timeout(500)
    assert len(seen.page.url) < 200
    assert "too long for a link" in seen.text("#panel-copy")


@LANGUAGES
def test_models_are_listed(visit: Callable[..., Visit], language: str, models: Mapping[str, Path]) -> None:
    seen = visit(language).open(model="people")
    seen.settle()
    with urlopen(f"{seen.address}/v1/models") as answer:
        own = json.load(answer)["models"]
    assert seen.page.locator("#models tbody tr").count() == len(models)
    first = seen.page.locator("#models tbody tr").first
    assert own[0]["bundle"][:8] in first.inner_text()
    assert ("Tagger" if language == "en-US" else "태거") in first.inner_text()
    assert "MB" in first.inner_text()
    assert seen.copied(first.locator("td button")) == own[0]["bundle"]
    seen.page.locator("#models tbody th button", has_text="reviews").click()
    seen.settle()
    assert seen.page.input_value("#model") == "reviews"
    assert seen.page.locator("#left .bars li").count() == 2


def test_examples_are_in_the_language_of_the_model(visit: Callable[..., Visit]) -> None:
    seen = visit().open(model="korean")
    seen.settle()
    assert re.search("[가-힣]", seen.page.input_value("#text-0"))
    buttons = seen.page.locator("#examples button")
    assert buttons.count() == 3
    buttons.nth(1).click()
    assert "손흥민" in seen.page.input_value("#text-0")
    seen.page.select_option("#model", "people")
    seen.settle()
    assert not re.search("[가-힣]", seen.page.input_value("#text-0"))
    seen.page.click("#clear")
    seen.settle()
    assert seen.text("#left") == "The result appears here as you type."


def test_the_language_can_be_changed_and_stays(visit: Callable[..., Visit]) -> None:
    seen = visit().open(model="people", text=TEXT)
    for name in ("tokens", "nbest", "dial", "transitions", "copy", "why"):
        seen.tab(name)
    seen.page.click("[data-language=ko]")
    for name in ("tokens", "nbest", "dial", "transitions", "copy", "why"):
        panel = seen.tab(name)
        assert re.search("[가-힣]", panel.inner_text()), name
        english = re.search(r"\b(the|of|is|and|to)\b", panel.inner_text().replace(TEXT, ""))
        assert name in {"copy", "tokens"} or not english, english
    assert seen.page.evaluate("document.documentElement.lang") == "ko"
    assert seen.page.title() == "gonie: 모델 시험하기"
    seen.open(model="people")
    assert seen.page.evaluate("document.documentElement.lang") == "ko"


# --- access


@LANGUAGES
@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", WIDTHS.values(), ids=WIDTHS)
def test_every_view_is_accessible_and_fits(
    visit: Callable[..., Visit], language: str, scheme: str, width: int
) -> None:
    seen = visit(language, width, color_scheme=scheme).open(model="people", compare="places", text=TEXT)
    seen.settle()
    seen.page.click("#left mark >> nth=1")
    for name in ("why", "tokens", "nbest", "dial", "transitions", "copy"):
        seen.tab(name)
        check_accessibility(seen)
        assert seen.page.evaluate("document.documentElement.scrollWidth <= innerWidth"), name
    for model in ("reviews", "pairs"):
        seen.page.select_option("#model", model)
        seen.settle()
        check_accessibility(seen)
        assert seen.page.evaluate("document.documentElement.scrollWidth <= innerWidth"), model


def test_everything_is_reached_by_the_tab_key_with_a_visible_focus(visit: Callable[..., Visit]) -> None:
    seen = visit().open(model="people", compare="places", text=TEXT)
    seen.settle()
    reached = set()
    for _ in range(60):
        seen.page.keyboard.press("Tab")
        found = seen.page.evaluate(
            """() => { const e = document.activeElement; const s = getComputedStyle(e)
               const drawn = parseFloat(s.outlineWidth) > 0 && s.outlineStyle !== 'none'
               return [e.id || e.dataset.tab || e.dataset.language || e.className || e.tagName,
                       drawn || e === document.body] }"""
        )
        assert found[1], f"no visible focus: {found[0]}"
        reached.add(found[0])
    assert {"skip", "model", "other", "en", "ko", "text-0", "clear", "left", "tab-why"} <= reached


def test_the_tabs_follow_the_arrow_keys(visit: Callable[..., Visit]) -> None:
    seen = visit().open(model="people", text=TEXT)
    seen.settle()
    seen.page.focus("#tab-why")
    seen.page.keyboard.press("ArrowLeft")
    assert seen.page.evaluate("document.activeElement.id") == "tab-copy"
    seen.page.keyboard.press("Home")
    assert seen.page.get_attribute("#tab-why", "aria-selected") == "true"


def test_no_motion_if_unwanted_and_a_printable_page(visit: Callable[..., Visit]) -> None:
    seen = visit(reduced_motion="reduce").open(model="reviews", text="The plot is lovely.")
    seen.settle()
    duration = "getComputedStyle(document.querySelector('.bar .fill')).transitionDuration"
    assert seen.page.evaluate(duration) == "0s"
    seen.page.emulate_media(media="print")
    assert not seen.page.locator("#tabs").is_visible()
    assert seen.page.locator("#left").is_visible()
