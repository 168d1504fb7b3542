"""The table has every text of the code, with the same fields, and nothing else.

If this fails: ``python tools/messages.py``, then translate what ``python tools/messages.py --missing`` lists.
"""

from __future__ import annotations

import importlib.util
import json
import re
from pathlib import Path
from types import ModuleType

import pytest

from gonie.messages.templates import COUNTED, FIELDS, Translator, fields, pieces
from gonie.reports.explanation import Faithfulness
from gonie.reports.explanations.verdict import verdict
from gonie.reports.size_tables import size_note
from gonie.reports.size_verdict import verdict as size_verdict
from support.korean_words import english_words
from support.size_fixtures import crossing, size_comparison, size_line

TOOL = Path(__file__).parent.parent.parent / "tools" / "messages.py"
SOURCE = '''
def f(report, path, n, verb):
    """No text."""
    verb = "is" if n == 1 else "are"
    report.skipped["rows without a label"] += 1
    raise InputError(f"{path}: {n:,} {verb} too many" + " of them", fix="Remove " f"{n} of them")
    return count(n, "gold span"), re.compile("no text here"), element("p", class_="no text")
'''


@pytest.fixture(scope="module")
def tool() -> ModuleType:
    spec = importlib.util.spec_from_file_location("messages_tool", TOOL)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_table_is_complete(tool: ModuleType) -> None:
    assert tool.problems(tool.texts(), tool.read()) == []


def test_translations_are_korean(tool: ModuleType) -> None:
    """Commands, titles of papers and names stay as they are, and have no sentence of their own."""
    same = [text for text, translation in tool.read().items() if not re.search("[가-힣]", translation)]
    assert len(same) < 65, same


DRIFT = re.compile(
    r"개체(?!명)|스팬(?! 그룹)|언급|에폭|거짓 (?:양|음)성|정렬되지 않은|"
    r"단순 (?:레이블|태그)|학습 예(?![제측])"
)
"""Words for which the table and the docs have another one: 개체명, 에포크, 놓침, 어긋난, 일반 태그."""
SPAN_GROUPS = "span groups|spans in the group"


def test_terms_are_the_same_everywhere(tool: ModuleType) -> None:
    drift = {
        english: korean
        for english, korean in tool.read().items()
        if DRIFT.search(korean) and not re.search(SPAN_GROUPS, english)
    }
    assert drift == {}
    for page in TOOL.parent.parent.rglob("*.ko.md"):
        assert DRIFT.findall(page.read_text("utf-8")) == [], page


def test_problems_are_named(tool: ModuleType) -> None:
    found = {"a.py": ["new text", "a {0} text", "empty text", "right {0}"]}
    table = {"a {0} text": "텍스트", "empty text": "", "old text": "옛 텍스트", "right {0}": "{0!t}"}
    assert tool.problems(found, table) == [
        "a.py: not in the table: new text",
        "not in the code any more: old text",
        "no {0} in the translation of: a {0} text",
        "a.py: not translated: empty text",
    ]


def test_texts_are_found_in_code(tool: ModuleType) -> None:
    import ast

    assert list(tool.Module(ast.parse(SOURCE), view=False).texts()) == [
        "rows without a label",
        "{0}: {1} {is|are} too many of them",
        "Remove {0} of them",
        "gold spans",
    ]


def test_every_text_is_found_again(tool: ModuleType) -> None:
    """A text of the code is read by its own entry, and not by one that fits other texts too."""
    table = {key: text for key, text in tool.read().items() if "{n}" not in text and not BESIDE.search(key)}
    translator, wrong = Translator(tool.read()), []
    for key, translation in table.items():
        counted = COUNTED.findall(translation)
        values = {name: str(3 + int(name)) if name in counted else f"x{name}" for name in fields(key)}
        parts = (values[value] if kind in FIELDS else value.split("|")[0] for kind, value in pieces(key))
        text, wanted = "".join(parts), Translator({key: translation})
        if translator(text) != wanted(text):
            wrong.append(f"{text}: {translator(text)}, not {wanted(text)}")
    assert wrong == [], "\n".join(wrong)


@pytest.mark.parametrize(
    ("english", "korean"),
    [
        (
            "text column: document (by its name; there is no column text)",
            "텍스트 열: document (이름으로 찾음. text 열이 없음)",
        ),
        ("label column: label (by its name)", "레이블 열: label (이름으로 찾음)"),
        ("names of tags: text, label (from the schema)", "tags의 이름: text, label (스키마에 따라)"),
        (
            "quoting: as in CSV (cells with doubled quotation marks, tabs or line breaks)",
            "따옴표: CSV 방식 (겹친 따옴표, 탭, 줄바꿈이 있는 칸)",
        ),
        (
            "sentences: markup and eojeols that end in SF (there are no blank lines)",
            "문장: 마크업과 SF로 끝나는 어절 (빈 줄이 없음)",
        ),
        (
            "header: none (the first line has no column with a known name)",
            "머리글: 없음 (첫 줄에 알려진 이름의 열이 없음)",
        ),
        (
            "header: text, label (the first line has columns with known names)",
            "머리글: text, label (첫 줄에 알려진 이름의 열이 있음)",
        ),
        ("unit: eojeol (most letters are Hangul)", "단위: 어절 (글자 대부분이 한글)"),
        ("scheme: IOB2 (B-X I-X O) (every tag is valid)", "태그 체계: IOB2 (B-X I-X O) (모든 태그가 올바름)"),
        (
            "scheme: plain labels (tags such as NNG have no markers)",
            "태그 체계: 일반 태그 (NNG 같은 태그에 표지가 없음)",
        ),
        (
            "Scheme IOB2. Mode strict. Repair policy none: "
            "3 predicted sentences were invalid, 0 tags changed.",
            "태그 체계 IOB2. 채점 방식 strict. 복구 방식 없음: "
            "예측 문장 3개가 잘못되었고 태그 0개를 바꾸었습니다.",
        ),
        (
            "the KLUE format cannot store plain labels",
            "KLUE 형식에는 개체명 태그(B-, I-, O)만 쓸 수 있는데, "
            "이 파일의 태그는 개체명이 아닌 일반 태그(품사 등)입니다",
        ),
        ("context", "문맥 임베딩"),
        ("to", "뒤 태그"),
        (
            "--label works only with classifiers and pair classifiers; runs/x is a tagger",
            "--label은 분류기와 텍스트 쌍 분류기에만 쓸 수 있습니다. runs/x는 태거입니다",
        ),
        ("student without teacher", "학생 모델(교사 모델 없음)"),
        ("3 repeated unlabelled sentences left out", "되풀이된 레이블 없는 문장 3개 제외"),
        (
            "warning: 1 test sentence of 100 is also in the unlabelled text, so the test score may be too "
            "high",
            "경고: 테스트 문장 100개 중 1개가 레이블 없는 텍스트에도 있어 "
            "테스트 점수가 실제보다 높을 수 있습니다",
        ),
        (
            "dropped from answers: 2 of 4: unknown label 1, not in the text 1",
            "응답에서 버린 것: 4개 중 2개: 모르는 레이블 1, 텍스트에 없음 1",
        ),
        (
            "tokens: 10 in prompts, 20 in answers; of this run 1 and 2; cost 0.1000, of this run 0.0500",
            "토큰: 프롬프트 10개, 응답 20개(이번 실행에서는 1개와 2개). 비용 0.1000(이번 실행에서는 0.0500)",
        ),
        (
            "a.npz: 300 vectors of 128 numbers, one for each token, in the order of the file",
            "a.npz: 128차원 벡터 300개, 토큰마다 하나, 파일 순서대로",
        ),
    ],
)
def test_texts_made_of_several_entries_are_korean(tool: ModuleType, english: str, korean: str) -> None:
    assert Translator(tool.read())(english) == korean


@pytest.mark.parametrize(
    "text",
    [
        '{"a" 1}',
        '{"a": 1 2}',
        '{"a": }',
        "{a: 1}",
        '{"a": "b',
        '{"a": 1} 2',
        '{"a": 1,}',
        '["\\x"]',
        '["\t"]',
        "[1,]",
    ],
)
def test_errors_of_the_json_module_are_korean(tool: ModuleType, text: str) -> None:
    with pytest.raises(json.JSONDecodeError) as raised:
        json.loads(text)
    found = Translator(tool.read())(f"a.jsonl:1: invalid JSON object: {raised.value}")
    assert english_words(found, ["JSON"]) == []


def test_which_model_is_best_is_korean(tool: ModuleType) -> None:
    translate = Translator(tool.read())
    assert translate(size_verdict(crossing(sd=0.02))) == (
        "레이블이 있는 문장 약 49개 미만에서는 in-context가 가장 좋습니다"
        "(20개로 F1 40.0, 그다음은 “tuned transformer”의 20.0). "
        "약 49개와 76개 사이에서는 in-context와 “tuned transformer” 사이에 뚜렷한 차이가 없습니다. "
        "평균은 약 61개에서 엇갈립니다. "
        "약 76개부터는 “tuned transformer”가 가장 좋습니다(3,010개로 F1 80.0, 그다음은 BiLSTM-CRF의 72.0). "
        "old(이전에 학습)의 F1은 30.0입니다. in-context는 20개로 이 점수에 이릅니다."
    )
    old = size_line("old", 0.25, 0.25, 0.25, 0.25, constant=True, labelled=800)
    rising = size_comparison(size_line("a", 0.1, 0.2, 0.3, 0.4, sd=0.0), old)
    assert translate(size_verdict(rising)).endswith(
        "old(문장 800개로 이전에 학습)의 F1은 25.0입니다. a는 약 220개로 이 점수에 이릅니다."
    )
    low = size_comparison(size_line("a", 0.1, 0.1, 0.1, 0.1, sd=0.0), old)
    assert translate(size_verdict(low)).endswith(
        "old(문장 800개로 이전에 학습)의 F1은 25.0입니다. "
        "3,010개로는 다른 어떤 모델도 이 점수에 이르지 못합니다."
    )
    lines = [size_line(name, 0.5, 0.5, 0.5, 0.5, sd=0.01) for name in "ab"]
    third = size_line("c", 0.5, 0.1, 0.1, 0.1, sd=0.01)
    assert translate(size_verdict(size_comparison(*lines, third))) == (
        "레이블이 있는 문장 20개부터 3,010개까지는 a와 b 사이에 뚜렷한 차이가 없습니다"
        "(이 구간의 일부에서는 c도)."
    )
    tied = size_line("b", 0.4, 0.6, 0.7, 0.9, sd=0.0)
    assert translate(size_verdict(size_comparison(size_line("a", 0.5, 0.7, 0.8, 0.9, sd=0.0), tied))) == (
        "레이블이 있는 문장 20개부터 3,010개까지는 a가 가장 좋습니다(500개로 F1 80.0, 그다음은 b의 70.0). "
        "3,010개에서는 a와 b 사이에 뚜렷한 차이가 없습니다."
    )


def test_the_note_on_training_sizes_is_korean(tool: ModuleType) -> None:
    for found in (crossing(sd=0.02), crossing(sd=None, seeds=1)):
        assert english_words(Translator(tool.read())(size_note(found))) == []


TABLES = ("random", "uniform attention"), ("random",)


@pytest.mark.parametrize("controls", TABLES)
@pytest.mark.parametrize("good", [True, False])
def test_verdicts_are_korean(tool: ModuleType, controls: tuple[str, ...], good: bool) -> None:
    scores = [Faithfulness(name, 0.3, 0.1, 100) for name in controls]
    scores += [Faithfulness(name, 0.2, 0.2, 100) for name in ("attention", "erasure")]
    scores += [Faithfulness("integrated gradients", 0.5, 0.0, 100)] if good else []
    found = Translator(tool.read())(verdict(scores))
    assert english_words(found) == []
    beaten = "무작위와 균등 어텐션" if len(controls) > 1 else "무작위"
    assert f"어텐션은 {beaten}보다 낫지 않습니다" in found


BESIDE = re.compile(r"\}\{\d")
"""Fields with nothing between them. Their values begin with punctuation."""
