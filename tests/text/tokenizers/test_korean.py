"""Korean tokenisation: eojeol as in the treebank, syllables, and morphemes aligned with the surface."""

from __future__ import annotations

import re
import sys
import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gonie.errors import MissingExtraError
from gonie.formats.format import ReadOptions
from gonie.formats.tagged import TaggedSource
from gonie.text.tokenizers.folding import is_mark
from gonie.text.tokenizers.korean import (
    EojeolTokenizer,
    MorphemeTokenizer,
    SyllableTokenizer,
    parse_morphemes,
)
from gonie.text.tokenizers.morphemes import format_morphemes
from gonie.text.types import Morpheme, Sentence

TREEBANK = Path(__file__).parents[4] / "shared/data/pos/ud_korean_gsd/ko_gsd-ud-dev.conllu"


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("나는 학교에 갔다.", "나는 학교에 갔다 ."),
        ("기아차(36.8%)를", "기아차 ( 36.8 % ) 를"),
        ("'영웅' 같은", "' 영웅 ' 같은"),
        ("1,260킬로미터를 70~80%까지", "1,260킬로미터를 70~80 % 까지"),
        ("S-Oil과 K-파워스 M&A는", "S-Oil과 K-파워스 M&A는"),
        ("홈페이지(http://www.modetour.com)의", "홈페이지 ( http://www.modetour.com ) 의"),
        ("포털(gris.gg.go.kr)에서 a@b.co.kr로", "포털 ( gris.gg.go.kr ) 에서 a@b.co.kr 로"),
        ("글쎄... 좋아요~~ ^^", "글쎄 ... 좋아요 ~ ~ ^^"),
        ("중소ㆍ중견기업과 85㎡", "중소 ㆍ 중견기업과 85 ㎡"),
        ("S.E.S.의 L. 버드", "S.E.S.의 L. 버드"),
        ("「귀학문답」을 『가지』는", "「 귀학문답 」 을 『 가지 』 는"),
        ("오후 13:00에 1:2로", "오후 13:00에 1:2로"),
    ],
)
def test_eojeol_follow_the_treebank_conventions(text, tokens):
    assert [word for sentence in EojeolTokenizer()(text) for word in sentence.words] == tokens.split(" ")


@pytest.mark.skipif(not TREEBANK.exists(), reason=f"needs {TREEBANK}")
def test_eojeol_agree_with_the_development_treebank():
    tokenize = EojeolTokenizer()
    right = found = wanted = 0
    for block in TREEBANK.read_text(encoding="utf-8").strip().split("\n\n"):
        lines = block.split("\n")
        text = next(line.removeprefix("# text = ") for line in lines if line.startswith("# text = "))
        gold, at = set(), 0
        for word in (row[1] for row in (line.split("\t") for line in lines) if row[0].isdigit()):
            start = text.index(word, at)
            at = start + len(word)
            gold.add((start, at))
        mine = {span for sentence in tokenize(text) for span in sentence.offsets()}
        right, found, wanted = right + len(mine & gold), found + len(mine), wanted + len(gold)
    assert 2 * right / (found + wanted) > 0.99


def test_syllables_are_single_characters_even_in_latin_and_numbers():
    """KLUE's files have a label for every character."""
    words = SyllableTokenizer()("삼성 TV 4K다.")[0].words
    assert words == ("삼", "성", "T", "V", "4", "K", "다", ".")


@pytest.mark.parametrize(
    ("text", "count"), [("ᄏᄏᄏ", 3), ("고ᅮᅮ", 3), ("ᄏᄏ" + unicodedata.normalize("NFD", "각각"), 4)]
)
def test_jamo_that_form_no_syllable_are_separate_tokens(text, count):
    """Otherwise laughter typed in conjoining jamo would be one long token that no model has seen."""
    words = SyllableTokenizer()(text)[0].words
    assert len(words) == count
    assert "".join(words) == text


def test_syllables_agree_with_klue(shared_data):
    """A model trained on KLUE's characters must see the same characters when it tags raw text."""
    tokenize = SyllableTokenizer()
    source = TaggedSource(shared_data / "ner/klue_ner_dev/klue-ner-v1.1_dev.tsv", ReadOptions(format="klue"))
    sentences = list(source)
    assert len(sentences) == 5000
    for gold in sentences:
        spans = [span for sentence in tokenize(gold.text) for span in sentence.offsets()]
        assert spans == gold.offsets(), gold.text


GRAPHEMES = [
    "e\u0301",
    "x\u0301\u0323",
    "☺\ufe0f",
    "1\ufe0f\u20e3",
    "가\u11a8",
    unicodedata.normalize("NFD", "각"),
]
PICTURES = ["👨‍👩‍👧‍👦", "🇰🇷", "👍🏽"]


@pytest.mark.parametrize("grapheme", GRAPHEMES + PICTURES)
def test_a_grapheme_is_one_token(grapheme):
    assert SyllableTokenizer()(f"가{grapheme}나")[0].words == ("가", grapheme, "나")


def test_adjacent_flags_and_emoji_are_separate_tokens():
    assert SyllableTokenizer()("🇰🇷🇺🇸😀😀")[0].words == ("🇰🇷", "🇺🇸", "😀", "😀")


@pytest.mark.parametrize(
    "unit", ["a.", "가-", "1,", "1.", "www.", "a@", "다.", "e\u0301", "👍\u200d", "ᄒ", "🇰", "ㆍ"]
)
@pytest.mark.parametrize("make", [EojeolTokenizer, SyllableTokenizer])
def test_time_is_linear_in_hostile_text(make, unit, within):
    """If a rule scanned the rest of the text and failed, this would run for hours."""
    text = unit * (100_000 // len(unit)) + "Q"
    with within(60):
        sentences = make()(text)
    assert sum(len(word) for sentence in sentences for word in sentence.words) == len(text)


@dataclass
class Fake:
    """A morpheme as reported by an analyser."""

    form: str
    tag: str
    start: int
    len: int


class FakeAnalyser:
    """Reports the same morphemes for every text."""

    def __init__(self, *tokens: Fake) -> None:
        self.tokens = tokens

    def tokenize(self, text: str) -> list[Fake]:
        return [token for token in self.tokens if token.start + token.len <= len(text)]


def analysed(text: str, *tokens: Fake) -> list[tuple[str, str]]:
    [sentence] = MorphemeTokenizer(analyser=FakeAnalyser(*tokens))(text)
    return list(zip(sentence.words, sentence.columns["morphemes"], strict=True))


def test_morphemes_of_one_syllable_become_one_token():
    assert analysed("했다", Fake("하", "VV", 0, 1), Fake("었", "EP", 0, 1), Fake("다", "EF", 1, 1)) == [
        ("했", "하/VV+었/EP"),
        ("다", "다/EF"),
    ]


def test_an_empty_morpheme_joins_its_neighbour():
    """The copula of "학생이다" may be omitted: it has an analysis but no characters."""
    assert analysed("학생다", Fake("학생", "NNG", 0, 2), Fake("이", "VCP", 2, 0), Fake("다", "EF", 2, 1)) == [
        ("학생", "학생/NNG+이/VCP"),
        ("다", "다/EF"),
    ]
    assert analysed("가", Fake("이", "VCP", 0, 0), Fake("가", "JKS", 0, 1)) == [("가", "이/VCP+가/JKS")]


def test_unanalysed_characters_become_unknown_morphemes():
    assert analysed("가나 다", Fake("나", "NP", 1, 1)) == [("가", "가/UN"), ("나", "나/NP"), ("다", "다/UN")]


def test_a_morpheme_with_a_space_is_split_into_words():
    assert analysed("에이미 아담스", Fake("에이미 아담스", "NNP", 0, 7)) == [
        ("에이미", "에이미/NNP"),
        ("아담스", "아담스/NNP"),
    ]


@settings(deadline=None, max_examples=300)
@given(
    text=st.text(alphabet="가나 \n다e\u0301😀\u200d.", min_size=1, max_size=12),
    places=st.lists(st.tuples(st.integers(0, 12), st.integers(0, 4)), max_size=8),
)
def test_offsets_are_exact_for_any_analysis(text, places):
    """Tokens cover the text once and in order, even if a future Kiwi reports other offsets."""
    tokens = [Fake("f", "T", start, length) for start, length in places]
    sentences = MorphemeTokenizer(analyser=FakeAnalyser(*tokens))(text)
    spans = [span for sentence in sentences for span in sentence.offsets()]
    assert [index for start, end in spans for index in range(start, end)] == [
        index for index, character in enumerate(text) if not character.isspace()
    ]
    for sentence in sentences:
        for analysis in sentence.columns["morphemes"]:
            assert parse_morphemes(analysis)


@pytest.mark.parametrize("text", ["가 " * 5000, "가" * 5000, " ".join(["가" * 1500] * 5), "가\n" * 3000])
def test_a_long_sentence_reaches_the_analyser_in_pieces(text):
    """Kiwi takes half a minute for 250,000 letters without a space."""
    given_lengths = []

    class Recorder:
        def tokenize(self, text: str) -> list[Fake]:
            given_lengths.append(len(text))
            return [Fake(text, "T", 0, len(text))]

    sentences = MorphemeTokenizer(analyser=Recorder())(text)
    assert max(given_lengths) <= 2000
    assert "".join(word for sentence in sentences for word in sentence.words) == "".join(text.split())


@dataclass
class Surface:
    """A range of text with the morphemes analysed in it."""

    start: int
    end: int
    morphemes: list[Morpheme]


def plain_morphemes(text: str, tokens: Iterable[Fake]) -> list[tuple[int, int, str]]:
    """The analyses of a sentence by the definition, step by step: merge, split at blanks, fill gaps."""
    merged: list[Surface] = []
    for token in sorted(tokens, key=lambda token: token.start):
        start, end = token.start, token.start + token.len
        last = merged[-1] if merged else None
        if last and last.start == last.end:
            last.start = start
        elif last is None or not (
            start < last.end or start == end or (start == last.end and is_mark(text[start]))
        ):
            last = Surface(start, end, [])
            merged.append(last)
        last.end = max(last.end, end)
        last.morphemes.append(Morpheme(token.form, token.tag))
    covered, at = [], 0
    for surface in merged:
        covered += labelled(text, at, surface.start, "UN")
        words = labelled(text, surface.start, surface.end, surface.morphemes[-1].tag)
        if len(words) == 1 or (words and len(surface.morphemes) > 1):
            words[0].morphemes = surface.morphemes
        covered += words
        at = surface.end
    covered += labelled(text, at, len(text), "UN")
    return [(each.start, each.end, format_morphemes(each.morphemes)) for each in covered]


def labelled(text: str, start: int, end: int, tag: str) -> list[Surface]:
    chunks = re.compile(r"\S+").finditer(text, start, end)
    return [Surface(*match.span(), [Morpheme(match[0], tag)]) for match in chunks]


def rows(sentence: Sentence) -> list[tuple[int, int, str]]:
    return list(zip(sentence.starts, sentence.ends, sentence.columns["morphemes"], strict=True))


@settings(deadline=None, max_examples=500)
@given(
    text=st.text(alphabet="가나 다e\u0301😀+/", min_size=1, max_size=12).filter(
        lambda text: text == text.strip()
    ),
    places=st.lists(
        st.tuples(
            st.integers(0, 12),
            st.integers(0, 4),
            st.sampled_from(["f", "가/", "하+", "a b", "ᆫ"]),
            st.sampled_from(["T", "VV-I", "W_URL"]),
        ),
        max_size=8,
    ),
)
def test_tokens_equal_those_of_the_definition(text, places):
    """The tokenizer does all steps in one pass over columns, because Kiwi's results are many."""
    tokens = [Fake(form, tag, start, length) for start, length, form, tag in places]
    analyser = FakeAnalyser(*tokens)
    sentence = MorphemeTokenizer(analyser=analyser)._sentence(text, 0, len(text))
    assert rows(sentence) == plain_morphemes(text, analyser.tokenize(text))
    assert all(
        text[start:end] == word for word, (start, end, _) in zip(sentence.words, rows(sentence), strict=True)
    )


def test_real_sentences_have_the_tokens_of_the_definition(shared_data):
    library = pytest.importorskip("kiwipiepy")
    kiwi = library.Kiwi(num_workers=1)
    source = TaggedSource(shared_data / "ner/klue_ner_dev/klue-ner-v1.1_dev.tsv", ReadOptions(format="klue"))
    cut = MorphemeTokenizer(analyser=kiwi)
    for gold in islice(source, 300):
        assert gold.text is not None
        for sentence in cut(gold.text):
            start, end = sentence.starts[0], sentence.ends[-1]
            text = gold.text[start:end]
            expected = [
                (start + a, start + b, each) for a, b, each in plain_morphemes(text, kiwi.tokenize(text))
            ]
            assert rows(sentence) == expected


@pytest.mark.parametrize("code", range(0, 0x110000, 0x1000))
def test_no_mark_is_a_letter_or_a_digit(code):
    """The tokenizer looks up the category only of other characters."""
    assert not [
        hex(each) for each in range(code, code + 0x1000) if is_mark(chr(each)) and chr(each).isalnum()
    ]


@pytest.fixture(scope="session")
def kiwi() -> MorphemeTokenizer:
    pytest.importorskip("kiwipiepy")
    return MorphemeTokenizer()


def test_kiwi_offsets_are_right_after_emoji(kiwi):
    """Kiwi works in UTF-16: each emoji could shift all later offsets by one."""
    sentences = kiwi("😀😀 그는 집에 갔다.👨‍👩‍👧 좋았다!")
    words = [word for sentence in sentences for word in sentence.words]
    assert words == ["😀", "😀", "그", "는", "집", "에", "갔", "다", ".", "👨‍👩‍👧", "좋", "았", "다", "!"]
    analyses = dict(zip(sentences[0].words, sentences[0].columns["morphemes"], strict=True))
    assert parse_morphemes(analyses["갔"]) == (Morpheme("가", "VV"), Morpheme("었", "EP"))


def test_kiwi_is_deterministic(kiwi):
    text = "삼성전자는 좋은 회사였다. 그래서 샀어요ㅋㅋ"
    assert kiwi(text) == kiwi(text)


def test_without_kiwi_the_error_names_the_extra(monkeypatch):
    """The core install has no kiwipiepy; the message must say what to type."""
    monkeypatch.setitem(sys.modules, "kiwipiepy", None)
    with pytest.raises(MissingExtraError, match=r"pip install 'gonie\[korean\]'"):
        MorphemeTokenizer()("가다")


def test_kiwi_knows_the_words_of_the_user_dictionary():
    pytest.importorskip("kiwipiepy")
    text = "우리는 밥먹자고를 샀다"
    [sentence] = MorphemeTokenizer(user_dictionary=["밥먹자고\tNNP\t5"])(text)
    assert sentence.columns["morphemes"][2:4] == ("밥먹자고/NNP", "를/JKO")
    assert "밥먹자고" not in MorphemeTokenizer()(text)[0].words
