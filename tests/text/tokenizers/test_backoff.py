"""Back-off to syllables: a name inside a morpheme could not be tagged without it."""

from __future__ import annotations

import unicodedata
from dataclasses import dataclass

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gonie.errors import InputError
from gonie.runtime.encoding_check import tokenizer as check_tokenizer
from gonie.text.tokenizers import MorphemeTokenizer, tokenizer
from gonie.text.tokenizers.backoff import SyllableBackoff, forms_to_cut
from gonie.text.types import Sentence


@dataclass
class Found:
    form: str
    tag: str
    start: int
    len: int
    oov: bool = False


class Words:
    """An analyser whose morphemes are the words of a text; those in capital letters are unknown."""

    def tokenize(self, text: str) -> list[Found]:
        found, at = [], 0
        for word in text.split():
            at = text.index(word, at)
            found.append(Found(word.lower(), "NNP", at, len(word), oov=word.isupper()))
            at += len(word)
        return found


@given(
    st.lists(st.sampled_from(["AB", "ab", "cd", "E", "f"]), max_size=6), st.sets(st.sampled_from(["ab", "f"]))
)
def test_unknown_morphemes_and_known_forms_are_cut(words: list[str], forms: set[str]) -> None:
    text = "  ".join(words)
    expected = []
    for each in Words().tokenize(text):
        cut = each.oov or text[each.start : each.start + each.len] in forms
        pieces = range(each.start, each.start + each.len) if cut else [each.start]
        expected += [(text[at], "NNP", at, 1) if cut else (each.form, "NNP", at, each.len) for at in pieces]
    found = SyllableBackoff(Words(), forms).tokenize(text)
    assert [(each.form, each.tag, each.start, each.len) for each in found] == expected


def test_white_space_inside_a_morpheme_is_no_syllable() -> None:
    class Whole:
        def tokenize(self, text: str) -> list[Found]:
            return [Found(text, "NNP", 0, len(text), oov=True)]

    assert [each.form for each in SyllableBackoff(Whole(), ()).tokenize("가 나")] == ["가", "나"]


def sentence(words: str, *spans: tuple[int, int]) -> Sentence:
    """Return a sentence of space-separated words, with gold spans that its words cannot express."""
    cut = tuple(words.split())
    starts = tuple(at for at in range(len(words)) if at == 0 or words[at - 1] == " ")
    ends = tuple(start + len(word) for start, word in zip(starts, cut, strict=True))
    return Sentence(cut, None, {}, words, starts, ends, unreachable=tuple((*span, "X") for span in spans))


def test_forms_are_words_inside_which_spans_begin_or_end() -> None:
    assert forms_to_cut([sentence("한미 정상", (0, 1), (1, 2)), sentence("남북미 회담", (0, 2))]) == [
        "남북미",
        "한미",
    ]
    assert forms_to_cut([sentence("한미 정상", (0, 5))]) == [], "a span over whole words"
    assert forms_to_cut([sentence("한미 정상", (1, 4))]) == ["정상", "한미"], "a span from one into another"


def test_rare_exceptions_are_not_cut() -> None:
    whole, split = sentence("한미 정상"), sentence("한미 정상", (0, 1))
    assert forms_to_cut([split, whole]) == ["한미"]
    assert forms_to_cut([split, whole, whole]) == []


def test_a_tokenizer_keeps_its_forms() -> None:
    for forms in ([], ["한미", "남북"]):
        cut = tokenizer(language="ko", unit="morpheme", fold=True, backoff=forms)
        saved = cut.to_json()
        assert saved["backoff"] == forms
        assert tokenizer(**saved).to_json() == saved
        check_tokenizer(saved, "tokenizer")
    assert "backoff" not in tokenizer(language="ko", unit="morpheme").to_json()


@pytest.mark.parametrize("forms", ["한미", [1], [["한미"]], {"한미": 1}])
def test_damaged_forms_in_a_bundle_are_refused(forms: object) -> None:
    with pytest.raises(ValueError, match="backoff"):
        check_tokenizer({"language": "ko", "unit": "morpheme", "backoff": forms}, "tokenizer")


@pytest.mark.parametrize(("language", "unit"), [("en", "word"), ("ko", "eojeol"), ("ko", "syllable")])
def test_only_morphemes_have_a_back_off(language: str, unit: str) -> None:
    with pytest.raises(InputError, match="back-off"):
        tokenizer(language=language, unit=unit, backoff=[])


def test_kiwi_reports_what_its_dictionary_lacks() -> None:
    pytest.importorskip("kiwipiepy")
    plain = MorphemeTokenizer()
    cut = MorphemeTokenizer(backoff=["정상"])
    (before,), (after,) = plain("마틸다와레옹은 한미 정상을"), cut("마틸다와레옹은 한미 정상을")
    assert "정상" in before.words
    assert "정상" not in after.words
    assert after.words[:2] == ("마", "틸")
    assert "한미" in after.words, "known, and not among the forms"
    assert {each.split("/")[1] for each in after.columns["morphemes"][:2]} == {"NNP"}


def test_decomposed_text_is_cut_alike() -> None:
    pytest.importorskip("kiwipiepy")
    cut = tokenizer(language="ko", unit="morpheme", fold=True, backoff=["정상"])
    (plain,), (decomposed,) = cut("한미 정상을"), cut(unicodedata.normalize("NFD", "한미 정상을"))
    assert [unicodedata.normalize("NFC", word) for word in decomposed.words] == list(plain.words)
