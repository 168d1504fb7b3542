"""Sentence splitting: a wrong boundary splits an entity or joins two sentences."""

from __future__ import annotations

import re
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gonie.text.tokenizers import sentences
from gonie.text.tokenizers.endings import CLOSERS, STOPS
from gonie.text.tokenizers.sentences import ENGLISH, KOREAN, Rules, is_abbreviation, split_sentences


def split(text: str, rules: Rules) -> str:
    return "|".join(text[start:end] for start, end in split_sentences(text, rules))


def joined(expected: str) -> str:
    """Return the text of an expected split, in which "|" replaces the space between sentences."""
    return expected.replace("|", " ")


@pytest.mark.parametrize(
    "expected",
    [
        "It works.|It is fast!|Is it?|Yes.",
        "Mr. Smith met Dr. J. R. Jones in Washington, D.C. on Jan. 5.|He left.",
        "The U.S. Army grew.|He lives in the U.S.|The end.",
        "They sell apples, etc.|Nobody buys.",
        "See No. 5 or p. 12.|No.|That is all.",
        "At 5 p.m. he left.|At 6 p.m.|The train came.",
        '"Stop!" he said.|"Why?"|Nobody knew.',
        "(It rained.)|[He left.]|Then sun.",
        "He asked (why?) and left.|Fine.",
        "Well... maybe.|So...|Next.",
        "What?!|No!!!|Yes.",
        "it was good.|i liked it.",
        "Good. :)|Bad. :(|Thanks :)|See you.",
        "So am I.|You too.",
        "1. First item.|2. Second item.",
        "Version 3.5 of foo.com is out.|Get it.",
        "He said . . . nothing.",
        "Alerts with Yahoo! Messenger work.",
    ],
)
def test_english_sentences_are_split(expected):
    assert split(joined(expected), ENGLISH) == expected


@pytest.mark.parametrize(
    "expected",
    [
        "나는 학교에 갔다.|밥을 먹었어요.|맛있죠?|네!",
        '"어디 가니?" 하고 물었다.|그는 웃었다.',
        "“안녕하세요.” 라고 말했다.|그랬다.",
        "(비가 왔다.)|그래서 집에 있었다.",
        "글쎄... 모르겠다.|그랬다...|그리고 끝.",
        "1. 첫째 항목이다.|2. 둘째 항목이다.",
        "값은 3.5달러다.|Dr. Kim이 왔다.",
        "정말 좋아요!!|또 올게요~ ^^",
        "2024. 3. 15. 서울에서 만났다.|그리고 헤어졌다.",
        "회의는 2024. 3. 15.(금) 오후에 열린다.|꼭 오세요.",
        "1. 사과 2. 배 3. 감",
        "3.1절에 No. 5와 vs. 6을 샀다.|끝이다.",
        "그는 “갔다. 그리고 왔다.”라고 말했다.|우리는 웃었다.",
        '그는 "갔다. 그리고 왔다." 라고 말했다.|우리는 웃었다.',
        "영화 《좋다. 나쁘다. 이상하다》를 봤다.|재미있었다.",
        "음식이 정말 맛있어요|다음에 또 올게요",
    ],
)
def test_korean_sentences_are_split(expected):
    assert split(joined(expected), KOREAN) == expected


def test_korean_sentences_without_a_space_are_split():
    assert split("학교에 갔다.그리고 왔다.", KOREAN) == "학교에 갔다.|그리고 왔다."


@pytest.mark.parametrize("rules", [ENGLISH, KOREAN])
@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("one\n\ntwo", "one|two"),
        ("one\r\n \t\r\ntwo", "one|two"),
        ("one\u2029two", "one|two"),
        ("one\x0ctwo", "one|two"),
        ("one\ntwo", "one\ntwo"),
        ("one\n    two", "one\n    two"),
        ("one\r\ntwo", "one\r\ntwo"),
        ("to buy:\n- milk\n- eggs", "to buy:|- milk|- eggs"),
        ("steps\n1. mix\n2) bake", "steps|1. mix|2) bake"),
        ("# Title\nsome text", "# Title|some text"),
        ("THE TITLE\nsome text", "THE TITLE|some text"),
        ("ALL IN\nCAPITALS", "ALL IN\nCAPITALS"),
        ("  one  \n\n\n  ", "one"),
    ],
)
def test_paragraphs_lists_and_headings_end_sentences(rules, text, expected):
    assert split(text, rules) == expected


@pytest.mark.parametrize("word", ["Mr", "U.S", "J", "e.g", "etc", "Ph.D", "Sat", "DR"])
def test_abbreviations_are_recognised(word):
    assert is_abbreviation(word)


@pytest.mark.parametrize("word", ["sat", "dog", "x1", "", "sun", "i"])
def test_other_words_are_not_abbreviations(word):
    assert not is_abbreviation(word)


@pytest.mark.parametrize("rules", [ENGLISH, KOREAN])
@settings(deadline=None, max_examples=200)
@given(text=st.one_of(st.text(), st.text(alphabet=" \n\r\t.!?…\"')(aA1다요:;-*#Mr\u2028\x1c")))
def test_sentences_cover_the_text_without_outer_white_space(rules, text):
    ranges = split_sentences(text, rules)
    assert "".join("".join(text[a:b].split()) for a, b in ranges) == "".join(text.split())
    assert all(a < b and text[a:b] == text[a:b].strip() for a, b in ranges)
    assert all(end <= start for (_, end), (start, _) in pairwise(ranges))


EMOTICON = r"(?:>?[:;=][-'^]?[)(DP]++|\^_*+\^|<3)"
STOP = (
    rf"(?P<mark>(?<![{STOPS}])[{STOPS}]++|(?<=\s){EMOTICON})"
    rf"(?P<closers>[{re.escape(CLOSERS)}]*+)(?:[^\S\n]++{EMOTICON}(?!\S))?+"
)
ENDS = {
    ENGLISH: r"(?=\s)",
    KOREAN: r"(?:(?=\s)|(?<=[다요죠까네지음임함됨오자라]\.)(?=[가-힣]{2}))",
}
SHORT = "다요 가.!?…。)\"'”>:;=^<_-D3a\n"
WORDS = ["맛있어요", "또", "올게요", "갔다.", "왔다", "“그래.”", "(참)", "3.5", "U.S.", "^^", ":)", "#"]
ODD = ["\u2028", "\ud83d", "👍🏽", "ᄒ\u1161"]
TEXTS = st.one_of(
    st.text(alphabet=SHORT, max_size=20),
    st.text(alphabet="가다요나 .?~ㅋ😀e\u0301\ud800,)", max_size=30),
    st.lists(st.sampled_from(WORDS + ODD), max_size=30).map(" ".join),
)


@pytest.mark.parametrize("rules", [ENGLISH, KOREAN])
@settings(deadline=None, max_examples=400)
@given(text=TEXTS, start=st.integers(0, 5))
def test_places_are_those_of_the_definition(rules, text, start):
    """The pattern is written for speed. This one says what it means."""
    plain = re.compile(STOP + ENDS[rules])
    for end in (len(text), len(text) // 2):
        assert [(found.span(), found.groupdict()) for found in rules.places.finditer(text, start, end)] == [
            (found.span(), found.groupdict()) for found in plain.finditer(text, start, end)
        ]


@pytest.mark.parametrize("rules", [ENGLISH, KOREAN])
@settings(deadline=None, max_examples=400)
@given(text=TEXTS)
def test_texts_of_one_piece_have_the_sentences_of_the_rules(rules, text):
    found = split_sentences(text, rules)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sentences, "_ONE_PIECE", re.compile(r"(?!)"))
        assert split_sentences(text, rules) == found


@pytest.mark.parametrize("rules", [ENGLISH, KOREAN])
@pytest.mark.parametrize(
    "unit", ["\n", "\n ", ". ", "Mr. ", ".", ".)", ") ", "! :) ", "다.", "1. ", "- a\n", "^_", "A\n"]
)
def test_time_is_linear_in_hostile_text(rules, unit, within):
    """If each stop scanned its whole sentence, this would take hours."""
    text = unit * (300_000 // len(unit))
    with within(60):
        ranges = split_sentences(text, rules)
    assert "".join("".join(text[a:b].split()) for a, b in ranges) == "".join(text.split())
