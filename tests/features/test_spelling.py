"""Spelling features: examples of the paper, and a slow reference implementation for any word."""

from __future__ import annotations

import json
import unicodedata
from itertools import groupby

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gonie.features.spelling import Spelling
from gonie.text.types import Sentence


def value(word: str, name: str) -> str | None:
    found = [f.removeprefix(f"{name}=") for f in Spelling().features(word) if f.startswith(f"{name}=")]
    return found[0] if found else None


@pytest.mark.parametrize(
    ("word", "name", "expected"),
    [
        ("I. B. M.", "letters", "IBM"),
        ("A.T.&T", "others", "..&"),
        ("A. T. &T", "others", "..&"),
        ("D56y-3", "pattern", "A00a-0"),
        ("D56y-3", "summary", "A0a-0"),
        ("D56y-3", "word", "d56y-3"),
    ],
)
def test_the_examples_of_the_paper_hold(word: str, name: str, expected: str) -> None:
    assert value(word, name) == expected


@pytest.mark.parametrize(
    ("word", "pattern", "summary"),
    [
        ("2차전지", "0가가가", "0가"),
        ("KT와", "AA가", "A가"),
        ("ㅋㅋ", "가가", "가"),
        ("大韓民國", "字字字字", "字"),
        ("e\u0301t\u00e9", "aaa", "a"),  # combining and precomposed accents give the same pattern
        ("٣٤", "00", "0"),
        ("...", "...", "."),
        ("ǅ", "A", "A"),
    ],
)
def test_other_scripts_have_patterns(word: str, pattern: str, summary: str) -> None:
    assert value(word, "pattern") == pattern
    assert value(word, "summary") == summary


@pytest.mark.parametrize(
    ("word", "marks"),
    [
        ("London", {"initial capital"}),
        ("IBM", {"initial capital", "all capitals", "inner capital"}),
        ("iPhone", {"inner capital"}),
        ("dog", {"all lower"}),
        ("B2B", {"initial capital", "all capitals", "inner capital", "letters and digits"}),
        ("1990", set()),
        ("John's", {"initial capital", "punctuation", "'s"}),
        ("’s", {"all lower", "punctuation", "'s"}),
        ("$", {"punctuation"}),
        ("한글", set()),
        ("2차", {"letters and digits"}),
    ],
)
def test_a_word_has_the_expected_properties(word: str, marks: set[str]) -> None:
    assert {feature for feature in Spelling().features(word) if "=" not in feature} == marks


def test_affixes_have_two_to_five_characters() -> None:
    features = Spelling().features("Walking")
    assert [f for f in features if f.startswith("prefix")] == [
        "prefix=wa",
        "prefix=wal",
        "prefix=walk",
        "prefix=walki",
    ]
    assert [f for f in features if f.startswith("suffix")] == [
        "suffix=ng",
        "suffix=ing",
        "suffix=king",
        "suffix=lking",
    ]
    assert not any(f.startswith(("prefix", "suffix")) for f in Spelling().features("I"))


@settings(deadline=None, max_examples=300)
@given(st.text(max_size=12))
def test_features_equal_a_slow_reference(word: str) -> None:
    """The reference uses Unicode names character by character, without the tables of the implementation."""

    def kind(c: str) -> str:
        category = unicodedata.category(c)
        if category.startswith("L"):
            if category != "Ll" and category not in ("Lu", "Lt"):
                return "가" if "HANGUL" in unicodedata.name(c, "") else "字"
            return "a" if category == "Ll" else "A"
        return "" if category.startswith("M") else "0" if c.isdecimal() else c

    features = Spelling().features(word)
    pattern = "".join(map(kind, word))
    summary = "".join(character for character, _ in groupby(pattern))
    assert value(word, "pattern") == (pattern or None)
    assert value(word, "summary") == (summary or None)
    assert ("inner capital" in features) == any(kind(c) == "A" for c in pattern[1:])
    assert ("punctuation" in features) == any(unicodedata.category(c)[0] in "PS" for c in word)
    kept = (value(word, "letters") or "") + (value(word, "others") or "")
    assert sorted(kept) == sorted(c for c in word if not c.isspace())
    assert len(set(features)) == len(features)


def test_every_token_has_the_features_of_its_form() -> None:
    spelling = Spelling()
    rows = spelling.extract(Sentence(words=("Go", "go", "Go")))
    assert rows == [list(spelling.features(word)) for word in ("Go", "go", "Go")]
    rows[0].clear()  # changing a returned list does not change later results
    assert spelling.extract(Sentence(words=("Go",))) == [list(spelling.features("Go"))]


def test_the_extractor_is_restored_from_json() -> None:
    again = Spelling.from_json(json.loads(json.dumps(Spelling().to_json())))
    assert again.name == "spelling"
    assert again.features("D56y-3") == Spelling().features("D56y-3")
