"""The kinds of augmentation: copies keep valid tags, and every replaced word has a reason to be there."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gonie.text.augment.case import OtherCase
from gonie.text.augment.crop import CroppedSentence
from gonie.text.augment.mentions import ReplacedMentions, with_particle
from gonie.text.augment.pieces import WordPiece
from gonie.text.augment.shuffle import ShuffledSegments, segments
from gonie.text.augment.table import SENTENCE_KINDS, TEXT_KINDS, Fit
from gonie.text.augment.tokens import ReplacedTokens
from gonie.text.augment.typos import Typos, mistyped
from gonie.text.augment.where import Where, changeable
from gonie.text.augment.words import RespelledSentence
from gonie.text.labelled_text import LabelledText
from gonie.text.schemes import IO, IOB2, PLAIN, Scheme, from_spans, problems, to_spans
from gonie.text.tokenizers import SyllableTokenizer
from gonie.text.types import Sentence, Span
from gonie.text.typos import KEYBOARD

BIOES = Scheme(kind="BIOES")
SCHEMES = (IOB2, BIOES, IO)


def generator(seed: int = 0) -> np.random.Generator:
    return np.random.default_rng(seed)


@st.composite
def corpora(draw: st.DrawFn) -> tuple[list[Sentence], Scheme]:
    """Draw sentences with entities that do not touch each other (IO cannot tell them apart)."""
    scheme = draw(st.sampled_from(SCHEMES))
    found = []
    for _ in range(draw(st.integers(1, 4))):
        words: list[str] = []
        spans = []
        for _ in range(draw(st.integers(0, 3))):
            words += draw(st.lists(st.sampled_from("abcd"), min_size=1, max_size=3))
            own = draw(st.lists(st.sampled_from("ABCDE"), min_size=1, max_size=3))
            spans.append((len(words), len(words) + len(own), draw(st.sampled_from(["PER", "LOC"]))))
            words += own
        words += draw(st.lists(st.sampled_from("abcd"), min_size=1, max_size=3))
        text = " ".join(words)
        starts = tuple(2 * place for place in range(len(words)))
        placed = {"text": text, "starts": starts, "ends": tuple(start + 1 for start in starts)}
        tags = tuple(from_spans(spans, len(words), scheme))
        found.append(Sentence(tuple(words), tags, **(placed if draw(st.booleans()) else {})))
    return found, scheme


def mentions(sentence: Sentence, scheme: Scheme) -> list[tuple[str, tuple[str, ...]]]:
    return [(label, sentence.words[start:end]) for start, end, label in to_spans(sentence.tags or (), scheme)]


@settings(deadline=None)
@given(corpora(), st.sampled_from(sorted(SENTENCE_KINDS)), st.integers(0, 50))
def test_copies_have_valid_tags_and_offsets(
    corpus: tuple[list[Sentence], Scheme], kind: str, seed: int
) -> None:
    sentences, scheme = corpus
    change = SENTENCE_KINDS[kind].build(Fit(sentences, scheme, 0.7))
    for sentence in sentences:
        copy = change(sentence, generator(seed))
        if copy is None:
            continue
        assert (copy.words, copy.tags) != (sentence.words, sentence.tags)
        assert not problems(copy.tags or (), scheme)
        assert len(copy.tags or ()) == len(copy.words)
        if sentence.text is not None:
            assert copy.text is not None
            assert [copy.text[start:end] for start, end in copy.offsets()] == list(copy.words)
        again = change(sentence, generator(seed))
        assert again == copy, "the same generator gives the same copy"


@settings(deadline=None)
@given(corpora(), st.integers(0, 50))
def test_mentions_become_training_mentions_of_their_type(
    corpus: tuple[list[Sentence], Scheme], seed: int
) -> None:
    sentences, scheme = corpus
    known = {each for sentence in sentences for each in mentions(sentence, scheme)}
    change = ReplacedMentions(sentences, scheme=scheme, rate=1.0)
    for sentence in sentences:
        old = mentions(sentence, scheme)
        copy = change(sentence, generator(seed)) or sentence
        new = mentions(copy, scheme)
        assert [label for label, _ in new] == [label for label, _ in old]
        assert set(new) <= known
        for (label, words), (_, others) in zip(old, new, strict=True):
            assert (words != others) == (sum(own == label for own, _ in known) > 1)
        outside = [word for word, tag in zip(sentence.words, sentence.tags or (), strict=True) if tag == "O"]
        assert [word for word, tag in zip(copy.words, copy.tags or (), strict=True) if tag == "O"] == outside


@settings(deadline=None)
@given(corpora(), st.integers(0, 50))
def test_tokens_become_training_words_with_their_tag(
    corpus: tuple[list[Sentence], Scheme], seed: int
) -> None:
    sentences, scheme = corpus
    known = {pair for each in sentences for pair in zip(each.words, each.tags or (), strict=True)}
    change = ReplacedTokens(sentences, scheme=scheme, rate=1.0)
    for sentence in sentences:
        copy = change(sentence, generator(seed)) or sentence
        assert copy.tags == sentence.tags
        assert set(zip(copy.words, copy.tags or (), strict=True)) <= known


def test_tokens_are_drawn_as_often_as_they_occur() -> None:
    sentence = Sentence(("a", "a", "a", "b", "x"), ("O", "O", "O", "O", "S-PER"))
    change = ReplacedTokens([sentence], scheme=BIOES, rate=1.0)
    drawn: Counter[str] = Counter()
    for seed in range(500):
        copy = change(sentence, generator(seed)) or sentence
        assert copy.words[4] == "x"
        drawn.update(copy.words[:4])
    assert drawn["a"] / sum(drawn.values()) == pytest.approx(0.75, abs=0.04)


@settings(deadline=None)
@given(corpora(), st.integers(0, 50))
def test_shuffled_words_stay_in_their_segment(corpus: tuple[list[Sentence], Scheme], seed: int) -> None:
    sentences, scheme = corpus
    change = ShuffledSegments(scheme=scheme, rate=0.8)
    for sentence in sentences:
        ranges = list(segments(sentence.tags or (), scheme))
        assert [place for start, end in ranges for place in range(start, end)] == list(range(len(sentence)))
        copy = change(sentence, generator(seed)) or sentence
        assert copy.tags == sentence.tags
        for start, end in ranges:
            assert Counter(copy.words[start:end]) == Counter(sentence.words[start:end])


@settings(deadline=None)
@given(corpora(), st.integers(0, 50))
def test_a_crop_is_a_part_of_its_sentence_with_whole_mentions(
    corpus: tuple[list[Sentence], Scheme], seed: int
) -> None:
    sentences, scheme = corpus
    change = CroppedSentence(scheme=scheme, rate=1.0)
    for sentence in sentences:
        copy = change(sentence, generator(seed))
        if copy is None:
            continue
        parts = [sentence.words[start : start + len(copy)] for start in range(len(sentence) - len(copy) + 1)]
        assert copy.words in parts
        assert len(copy) < len(sentence)
        known = mentions(sentence, scheme)
        assert all(each in known for each in mentions(copy, scheme))


def test_crops_show_text_without_the_mention() -> None:
    sentence = Sentence(("a", "b", "X", "Y", "c", "d"), ("O", "O", "B-PER", "I-PER", "O", "O"))
    change = CroppedSentence(scheme=IOB2, rate=1.0)
    copies = [copy for seed in range(300) if (copy := change(sentence, generator(seed))) is not None]
    assert {mentions(copy, IOB2) == [] for copy in copies} == {True, False}
    assert not any({"X", "Y"} & {*copy.words} == {"X"} for copy in copies), "a mention is never cut"
    few = [CroppedSentence(scheme=IOB2, rate=0.2)(sentence, generator(seed)) for seed in range(50)]
    assert all(copy is None or len(copy) >= 4 for copy in few)


def test_segments_of_plain_tags_are_runs_of_one_tag() -> None:
    assert list(segments(("N", "N", "V", "N"), PLAIN)) == [(0, 2), (2, 3), (3, 4)]


def test_korean_names_bring_their_spaces() -> None:
    """A name of two eojeols, cut into syllables, must be written as in its own sentence."""
    cut = SyllableTokenizer()
    (one,), (other,) = cut("김 구가 왔다"), cut("어제 세종이 왔다")
    sentences = [
        Sentence(one.words, ("B-PS", "E-PS", "O", "O", "O"), {}, one.text, one.starts, one.ends),
        Sentence(
            other.words,
            ("O", "O", "B-PS", "E-PS", "O", "O", "O"),
            {},
            other.text,
            other.starts,
            other.ends,
        ),
    ]
    change = ReplacedMentions(sentences, scheme=BIOES, rate=1.0)
    copies = [change(sentence, generator()) for sentence in sentences]
    assert [copy and copy.text for copy in copies] == ["세종이 왔다", "어제 김 구가 왔다"], "particles fit"


def test_only_particles_take_another_form() -> None:
    def after(word: str, *pieces: tuple[str, str]) -> list[str]:
        return [
            each.word for each in with_particle(word, [WordPiece(own, own, (), gap) for own, gap in pieces])
        ]

    assert after("김구", ("은", ""), ("왔", " ")) == ["는", "왔"]
    assert after("강감찬", ("를", ""), (".", "")) == ["을", "."]
    assert after("김구", ("이", ""), ("다", "")) == ["이", "다"], "the copula"
    assert after("김구", ("이", " "), ("사", " ")) == ["이", "사"], "a word of its own"
    assert after("Kim", ("은", ""), ("왔", " ")) == ["은", "왔"], "how it is read is not known"


@pytest.mark.parametrize("kind", ["tokens", "typos"])
@pytest.mark.parametrize(("where", "stays"), [("inside", "O"), ("outside", "S-PER")])
def test_only_words_inside_or_outside_of_entities_change(kind: str, where: Where, stays: str) -> None:
    sentences = [Sentence(("Kim", "met", "Lee", "twice"), ("S-PER", "O", "S-PER", "O"))]
    change = SENTENCE_KINDS[kind].build(Fit(sentences, BIOES, 0.9, where))
    copies = [copy for seed in range(20) if (copy := change(sentences[0], generator(seed)))]
    assert copies
    for copy in copies:
        words = zip(sentences[0].words, copy.words, copy.tags or (), strict=True)
        assert all(old == new for old, new, tag in words if tag == stays)


def test_all_words_with_plain_tags_may_change() -> None:
    assert changeable(("N", "O"), "outside", PLAIN).all()


# --- spelling --------------------------------------------------------------------------------------------


def one_error_apart(word: str) -> set[str]:
    """Return every word with one typing error, by enumeration."""
    found = {word[:at] + word[at + 1 :] for at in range(len(word))}
    found |= {word[:at] + word[at + 1] + word[at] + word[at + 2 :] for at in range(len(word) - 1)}
    keys = "".join(KEYBOARD) + "".join(KEYBOARD).upper()
    for key in keys:
        found |= {word[:at] + key + word[at + 1 :] for at in range(len(word))}
        found |= {word[:at] + key + word[at:] for at in range(len(word) + 1)}
    return found - {""}


@given(st.text("abzQ.9", min_size=1, max_size=6), st.integers(0, 100))
def test_a_typo_is_one_error(word: str, seed: int) -> None:
    new = mistyped(word, generator(seed))
    assert new in one_error_apart(word) | {word}
    if not any(map(str.isalpha, word)):
        assert new == word


def test_wrong_keys_are_beside_the_right_one() -> None:
    drawn = {mistyped("s", generator(seed)) for seed in range(300)}
    near = set("adwezx")
    assert {word for word in drawn if len(word) == 1} == near
    assert {word for word in drawn if len(word) == 2} == {f"s{key}" for key in near}


def test_korean_typos_are_those_of_its_keyboard() -> None:
    drawn = {mistyped("한", generator(seed)) for seed in range(200)}
    assert "하" in drawn, "a missing final consonant"
    assert {"란", "핸", "함"} <= drawn, "ㄹ is beside ㅎ, ㅐ above ㅏ, ㅁ beside ㄴ"
    assert "반" not in drawn, "ㅂ is elsewhere"
    assert all(len(word) == 1 for word in drawn)


def test_a_share_of_the_words_is_mistyped() -> None:
    words = ["word"] * 2000
    changed = sum(new != "word" for new in Typos(rate=0.3)(words, generator()))
    assert changed / 2000 == pytest.approx(0.3, abs=0.04)


def test_a_sentence_is_in_one_case() -> None:
    sentence = Sentence(("Kim", "met", "the", "IBM", "team"), ("S-PER", "O", "O", "S-ORG", "O"))
    change = RespelledSentence(OtherCase(), scheme=BIOES)
    copies = {copy.words for seed in range(20) if (copy := change(sentence, generator(seed)))}
    assert copies == {
        ("kim", "met", "the", "ibm", "team"),
        ("KIM", "MET", "THE", "IBM", "TEAM"),
        ("Kim", "Met", "The", "Ibm", "Team"),
    }
    assert change(Sentence(("서울", "1"), ("O", "O")), generator()) is None


# --- texts -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", sorted(TEXT_KINDS))
def test_copies_of_texts_keep_labels_and_marks(kind: str) -> None:
    text = LabelledText(
        "The Film was  long, but the old Actor was good.", ("good",), (Span(32, 37, "e1", "Actor"),)
    )
    change = TEXT_KINDS[kind](0.9)
    copies = [copy for seed in range(30) if (copy := change(text, generator(seed)))]
    assert len({copy.text for copy in copies}) > 2
    for copy in copies:
        assert copy.labels == text.labels
        (mark,) = copy.marks
        assert mark.text == copy.text[mark.start : mark.end]
        if kind == "shuffle":
            assert copy.text.endswith(", but the old Actor was good."), "clauses with marks stay"
            assert sorted(copy.text.split(",")[0].split()) == ["Film", "The", "long", "was"]
        if kind == "case":
            assert mark.text.lower() == "actor"
