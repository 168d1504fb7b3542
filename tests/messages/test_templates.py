"""English texts are found in the table again, and written in Korean."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gonie.messages.templates import Translator, fields, pieces

TABLE = {
    "no column {0}: the line has {1}": "열 {0}{이/가} 없습니다: 이 줄에는 {1!t}{이/가} 있습니다",
    "columns": "열",
    "tokens": "토큰",
    "sentences": "문장",
    "people": "사람 {n}명",
    "rows without a label": "레이블이 없는 행",
    "texts cut to {0} tokens": "토큰 {0}개로 자른 텍스트",
    "Check the file": "파일을 확인하세요",
    "file not found": "파일을 찾을 수 없습니다",
    "{0} of {1} {is|are} left out": "{1!t} 중 {0}개가 빠집니다",
    "unknown label: {0}": "알 수 없는 레이블: {0}",
    "Errors": "오류",
    "format": "형식",
    "by the suffix {0}": "확장자 {0}에 따라",
    'write {{"a": 1}}': '{{"a": 1}}을 쓰세요',
    "epoch {0}  loss {1}  {2}{3}  ETA {4}": "에포크 {0}  손실 {1}  {2!t}{3!t}  남은 시간 {4!t}",
    "dev F1 {0}": "검증 F1 {0}",
    "  train {0}": "  학습 {0}",
    "{0} s": "{0}초",
    "{0}: best at {1}{2}{3}": "{0}: 가장 좋은 값은 {1}{2!t}{3!t}",
    ", the highest value tried": "(시도한 가장 큰 값)",
    "; by value: {0}": ". 값별: {0}",
    "Use {0}": "{0!l}{을/를} 쓰세요",
    "Rows are gold. Columns are predicted.": "행은 정답, 열은 예측입니다.",
    "Run: {0}": "실행하세요: {0}",
    "--set {0}": "--set {0}",
    "expected {0}, got {1}": "{0!t}{이/가} 있어야 하는데 {1!t}입니다",
    "expected {0} tokens, got {1}": "토큰은 {0}개여야 하는데 {1}개입니다",
    "wrong: {0} of {1}{2}": "틀림: {1}개 중 {0}개{2!t}",
    "{0}, {1} is best.": "{0!t} {1!l}{이/가} 가장 좋습니다.",
    "Below {0} {1}": "{1!t} {0}개 미만에서는",
    "not in the file": "파일에 없음",
    "changed: {0}": "바뀜: {0!t}",
}


@pytest.mark.parametrize(
    ("english", "korean"),
    [
        ("Errors", "오류"),
        ("no column 'x': the line has 3 columns", "열 'x'가 없습니다: 이 줄에는 열 3개가 있습니다"),
        ("1 token", "토큰 1개"),
        ("1,000 sentences, 2,000 tokens", "문장 1,000개, 토큰 2,000개"),
        ("1 row without a label", "레이블이 없는 행 1개"),
        ("2 people", "사람 2명"),
        ("4 texts cut to 9 tokens", "토큰 9개로 자른 텍스트 4개"),
        ("a.tsv:3: file not found. Check the file", "a.tsv:3: 파일을 찾을 수 없습니다. 파일을 확인하세요"),
        ("1 of 2 rows without a label is left out", "레이블이 없는 행 2개 중 1개가 빠집니다"),
        ("3 of 9 rows without a label are left out", "레이블이 없는 행 9개 중 3개가 빠집니다"),
        ("format: conll (by the suffix .conll)", "형식: conll (확장자 .conll에 따라)"),
        ("a: file not found\n  - Check the file.", "a: 파일을 찾을 수 없습니다\n  - 파일을 확인하세요."),
        ('write {"a": 1}', '{"a": 1}을 쓰세요'),
        (
            "epoch   1  loss   5.5541  dev F1   0.00  ETA 2 s",
            "에포크   1  손실   5.5541  검증 F1   0.00  남은 시간 2초",
        ),
        (
            "epoch  10  loss  12.5000  dev F1  10.00  train  20.00  ETA ?",
            "에포크  10  손실  12.5000  검증 F1  10.00  학습  20.00  남은 시간 ?",
        ),
        ("lr: best at 0.1", "lr: 가장 좋은 값은 0.1"),
        ("lr: best at 0.1; by value: 0.1: 3.0", "lr: 가장 좋은 값은 0.1. 값별: 0.1: 3.0"),
        (
            "lr: best at 0.1, the highest value tried; by value: 0.1: 3.0",
            "lr: 가장 좋은 값은 0.1(시도한 가장 큰 값). 값별: 0.1: 3.0",
        ),
        ("2 tokens and 3 sentences", "토큰 2개와 문장 3개"),
        ("Use tokens, 'a b' or columns", "tokens, 'a b' 또는 columns를 쓰세요"),
        ("format: a and b (by the suffix .x)", "형식: a와 b (확장자 .x에 따라)"),
        ("  gonie train ner       Check the file", "  gonie train ner       파일을 확인하세요"),
        (
            "Rows are gold. Columns are predicted. Check the file",
            "행은 정답, 열은 예측입니다. 파일을 확인하세요",
        ),
        ("my data/a.conll:3: file not found", "my data/a.conll:3: 파일을 찾을 수 없습니다"),
        ("Run: gonie train --set a=1", "실행하세요: gonie train --set a=1"),
        ("expected 3 tokens, got 4", "토큰은 3개여야 하는데 4개입니다"),
        ("wrong: 1 of 4", "틀림: 4개 중 1개"),
        ("wrong: 3 of 4: file not found 2, columns 1", "틀림: 4개 중 3개: 파일을 찾을 수 없습니다 2, 열 1"),
        ("Use “a b”, c and “d e”", "“a b”, c와 “d e”를 쓰세요"),
        (
            "Below 5 sentences, a is best. Below 9 sentences, “b c” is best.",
            "문장 5개 미만에서는 a가 가장 좋습니다. 문장 9개 미만에서는 “b c”가 가장 좋습니다.",
        ),
        ("changed: file not found, not in the file", "바뀜: 파일을 찾을 수 없습니다, 파일에 없음"),
        ("changed: columns, tokens", "바뀜: columns, tokens"),
        ("changed: a.conll:3 (file not found)", "바뀜: a.conll:3 (파일을 찾을 수 없습니다)"),
    ],
)
def test_a_text_is_translated(english, korean):
    assert Translator(TABLE)(english) == korean


@pytest.mark.parametrize("text", ["", " ", "Nothing of this is known.", "runs/x: what?", "Error"])
def test_a_text_without_an_entry_stays_english(text):
    assert Translator(TABLE)(text) == text


def test_values_are_not_translated():
    """A label may have the name of a heading."""
    assert Translator(TABLE)("unknown label: Errors") == "알 수 없는 레이블: Errors"


def test_a_file_with_the_name_of_a_text_is_not_translated():
    assert Translator(TABLE)("tokens: file not found") == "tokens: 파일을 찾을 수 없습니다"


def test_only_numbers_are_counted():
    assert Translator(TABLE)("some of 2 tokens are left out") == "some of 2 tokens are left out"


@given(st.text(alphabet=st.characters(exclude_categories=["Cs"]), max_size=80))
def test_any_text_is_read(text):
    assert isinstance(Translator(TABLE)(text), str)


@given(st.text(alphabet="abc{}|/ ", min_size=1, max_size=20))
def test_any_value_comes_back_as_it_was(value):
    assert Translator(TABLE)(f"unknown label: {value}") == f"알 수 없는 레이블: {value}"


def test_the_parts_of_a_template():
    assert list(pieces("a {0}{이/가} {1!t} {{b}}")) == [
        ("literal", "a "),
        ("field", "0"),
        ("choice", "이/가"),
        ("literal", " "),
        ("nested", "1"),
        ("literal", " "),
        ("literal", "{"),
        ("literal", "b"),
        ("literal", "}"),
    ]
    assert fields("a {0} {n} {1!t}") == {"0", "1"}
