"""Features of morphological analyses: each morpheme must go to the word in which it begins."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gonie.features.analyses import Analyses
from gonie.features.encoding import EXTRACTORS
from gonie.text.tokenizers import EojeolTokenizer, MorphemeTokenizer, parse_morphemes
from gonie.text.types import Sentence

TEXT = "정부는 그것을 조건으로 했다."


@pytest.fixture(scope="module")
def analyses() -> Analyses:
    pytest.importorskip("kiwipiepy")
    return Analyses()


def eojeol(text: str) -> Sentence:
    sentence, *others = EojeolTokenizer()(text)
    assert not others
    return sentence


def test_a_word_has_its_morphemes_and_their_tags(analyses: Analyses) -> None:
    found = analyses.extract(eojeol(TEXT))
    assert found[2] == ["조건/NNG", "으로/JKB", "NNG", "JKB", "<NNG", "JKB>", "<NNG+JKB>"]
    assert {"하/VV", "었/EP", "다/EF", "<VV", "EF>"} <= set(found[3])
    assert found[4] == ["./SF", "SF", "<SF", "SF>", "<SF>"]


@settings(deadline=None, max_examples=60)
@given(
    st.lists(
        st.sampled_from(["정부는", "갔다", "그리고", "A4", "3.5%", "삼성전자를", "ㅋㅋ", "😀", "!"]),
        min_size=1,
    )
)
def test_morphemes_belong_to_the_word_in_which_they_begin(words: list[str]) -> None:
    """Compares with one search per morpheme, over the whole text at once."""
    pytest.importorskip("kiwipiepy")
    text = " ".join(words)
    for sentence in EojeolTokenizer()(text):
        start, end = sentence.starts[0], sentence.ends[-1]
        expected: list[list[str]] = [[] for _ in sentence.words]
        for part in KIWI(text[start:end]):
            for place, analysis in zip(part.starts, part.columns["morphemes"], strict=True):
                (own,) = [
                    at for at, e in enumerate(sentence.ends) if sentence.starts[at] <= start + place < e
                ]
                expected[own] += [f"{each.form}/{each.tag}" for each in parse_morphemes(analysis)]
        found = SHARED.extract(sentence)
        assert [own[: len(forms)] for own, forms in zip(found, expected, strict=True)] == expected
        assert [len(own) for own in found] == [2 * len(forms) + 3 if forms else 0 for forms in expected]


KIWI = MorphemeTokenizer()
SHARED = Analyses()


def test_decomposed_text_is_analysed_alike(analyses: Analyses) -> None:
    decomposed = eojeol(unicodedata.normalize("NFD", TEXT))
    assert analyses.extract(decomposed) == analyses.extract(eojeol(TEXT))


def test_words_without_a_text_are_joined_by_spaces(analyses: Analyses) -> None:
    words = eojeol(TEXT).words[:4]
    joined = eojeol(" ".join(words))
    assert analyses.extract(Sentence(words)) == analyses.extract(joined)
    assert analyses.extract(Sentence(())) == []


def test_a_column_of_analyses_is_used_as_it_is() -> None:
    """It also works without Kiwi."""
    sentence = Sentence(("조건으로", "X"), None, {"morphemes": ("조건/NNG+으로/JKB", "")})
    first, second = Analyses().extract(sentence)
    assert first == ["조건/NNG", "으로/JKB", "NNG", "JKB", "<NNG", "JKB>", "<NNG+JKB>"]
    assert second == []


def test_part_of_a_sentence_is_analysed_in_its_place(analyses: Analyses) -> None:
    """Long sentences are tagged in parts."""
    sentence = eojeol(TEXT)
    assert analyses.extract(sentence.part(1, 4)) == analyses.extract(sentence)[1:4]
    assert analyses.extract(sentence.part(1, 1)) == []


def test_the_extractor_is_restored_from_json() -> None:
    saved = Analyses().to_json()
    assert isinstance(EXTRACTORS[saved["name"]].from_json(saved), Analyses)
