"""The contract of every tokenizer: if it breaks, spans point to the wrong characters."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gonie.errors import GonieError
from gonie.text.tokenizers import Tokenizer, tokenizer
from gonie.text.types import Sentence

KINDS = [("en", "word"), ("ko", "eojeol"), ("ko", "syllable"), ("ko", "morpheme")]
RULED = KINDS[:3]
FOLDED = [(*kind, True) for kind in KINDS]

WORDS = r"""a I Mr. U.S. don't its 했다. 좋아요 삼성전자는 नमस्ते مرحبا שלום ไทย 日本語 ㅋㅋ
ㆍ · ª ½ ² ﬁ ０．５ 𝕏 3.5 1,000 12:30pm 1/2 a@b.com http://x.y/z www.x #t @u :) ^^ … ― — ’ ‘ “ ”
( ) [ ] " ' ` . ! ? , ; : / \ - -- _ & % $ € * ~ + = < > | ^"""
MARKED = ["e\u0301", "x\u0301\u0323", "\u0301", "ᄒ\u1161\u11ab", "각\u11a8", "☺\ufe0f", "1\ufe0f\u20e3"]
EMOJI = ["👨\u200d👩\u200d👧\u200d👦", "👍🏽", "🇰🇷", "🇰", "😀"]
UNSEEN = ["\u200b", "\u200d", "\ufeff", "\u00ad", "\x00", "\x7f", "\U0010ffff"]
PIECES = [*WORDS.split(), *MARKED, *EMOJI, *UNSEEN]
SPACES = [" ", "", "\n", "\n\n", "\r\n", "\t", *"\x1c\x0b\x0c\x85\xa0\u2028\u2029\u3000"]
TEXTS = st.one_of(
    st.text(max_size=60),
    st.lists(st.sampled_from(PIECES + SPACES), max_size=25).map("".join),
    st.lists(st.sampled_from(PIECES), max_size=20).map(" ".join),
)


@pytest.fixture(scope="session")
def made() -> dict[tuple[object, ...], Tokenizer]:
    plain = {(language, unit): tokenizer(language=language, unit=unit) for language, unit in KINDS}
    folded = {(*kind, True): tokenizer(language=kind[0], unit=kind[1], fold=True) for kind in KINDS}
    cut = tokenizer(language="ko", unit="morpheme", fold=True, backoff=["삼성전자", "좋"])
    return {**plain, **folded, ("ko", "morpheme", "backoff"): cut}


def check(text: str, sentences: list[Sentence]) -> None:
    covered = [0] * len(text)
    last = 0
    for sentence in sentences:
        assert sentence.words
        assert sentence.text == text
        for word, start, end in zip(sentence.words, sentence.starts, sentence.ends, strict=True):
            assert text[start:end] == word
            assert last <= start < end
            assert word == word.strip()
            covered[start:end] = [count + 1 for count in covered[start:end]]
            last = end
        for column in sentence.columns.values():
            assert len(column) == len(sentence.words)
    assert all(count == 1 or (count == 0 and c.isspace()) for count, c in zip(covered, text, strict=True))


@pytest.mark.parametrize("kind", [*RULED, *FOLDED[:3]])
@settings(deadline=None, max_examples=300)
@given(text=TEXTS)
def test_offsets_are_exact_and_cover_the_text(kind, made, text):
    check(text, made[kind](text))


@settings(deadline=None, max_examples=120)
@given(text=TEXTS)
def test_morpheme_offsets_are_exact_and_cover_the_text(made, text):
    pytest.importorskip("kiwipiepy")
    check(text, made["ko", "morpheme"](text))
    check(text, made["ko", "morpheme", True](text))
    check(text, made["ko", "morpheme", "backoff"](text))


@pytest.mark.parametrize("kind", RULED)
@settings(deadline=None, max_examples=60)
@given(text=TEXTS, others=st.lists(TEXTS, max_size=3))
def test_tokens_do_not_depend_on_earlier_texts(kind, made, text, others):
    """A faulty cache would make results depend on the order of requests."""
    for other in others:
        made[kind](other)
    assert made[kind](text) == tokenizer(language=kind[0], unit=kind[1])(text)


@pytest.mark.parametrize("kind", [*KINDS, *FOLDED])
@pytest.mark.parametrize("text", ["", " ", "\n\t \x1c\u2028\u3000"])
def test_an_empty_text_has_no_sentences(kind, made, text):
    assert made[kind](text) == []


@pytest.mark.parametrize("kind", [*KINDS, *FOLDED])
@pytest.mark.parametrize("text", ["a\ud800b", "가\udfff 나\ud83d."])
def test_lone_surrogates_are_tokenised(kind, made, text):
    """They come from files decoded with surrogateescape."""
    if kind[1] == "morpheme":
        pytest.importorskip("kiwipiepy")
    check(text, made[kind](text))


@pytest.mark.parametrize("kind", [*KINDS, *FOLDED])
def test_a_tokenizer_is_restored_from_json(kind, made):
    assert (made[kind].language, made[kind].unit) == kind[:2]
    remade = tokenizer(**made[kind].to_json())
    assert type(remade) is type(made[kind])
    assert remade.to_json() == made[kind].to_json()


@pytest.mark.parametrize(
    ("language", "unit", "said"),
    [("de", "word", "en/word"), ("en", "syllable", "ko/syllable"), ("ko", "word", 'unit = "eojeol"')],
)
def test_an_unknown_tokenizer_is_refused_with_the_known_ones(language, unit, said):
    with pytest.raises(GonieError) as refusal:
        tokenizer(language=language, unit=unit)
    assert said in str(refusal.value)
    assert f"{language}/{unit}" in str(refusal.value)
