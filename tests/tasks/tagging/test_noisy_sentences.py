"""Noise in tagged sentences keeps the gold: by word where words stay, by character where they do not."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gonie.formats.spans import AnnotatedText, char_spans, tagged_sentences
from gonie.tasks.tagging.noisy_sentences import noisy_sentences
from gonie.text.noise_levels import CASES, LEVELS, SPACES, TYPOS, NoiseLevel
from gonie.text.report import Report
from gonie.text.schemes import IOB2, PLAIN, Scheme, scheme_named
from gonie.text.tokenizers import EnglishTokenizer, SyllableTokenizer
from gonie.text.types import Sentence

GIVEN = Sentence(("Anna", "Kim", "met", "Bert", "."), ("B-PER", "I-PER", "O", "B-PER", "O"), meta={"y": "1"})
ENGLISH = EnglishTokenizer()


def noisy(
    sentences: list[Sentence], level: NoiseLevel, scheme: Scheme = IOB2, tokenizer: object = ENGLISH
) -> list[Sentence]:
    chance = np.random.default_rng(0)
    return noisy_sentences(
        sentences,
        level,
        scheme=scheme,
        tokenizer=tokenizer,  # type: ignore[arg-type]
        generator=chance,
    )


@pytest.mark.parametrize("kind", [TYPOS, *CASES])
def test_given_words_keep_their_tags(kind: str) -> None:
    (found,) = noisy([GIVEN], NoiseLevel(kind, 1.0))
    assert found.tags == GIVEN.tags
    assert found.words != GIVEN.words
    assert found.text is None
    assert found.meta == GIVEN.meta


def test_offsets_follow_the_words() -> None:
    text = "Anna Kim met Bert."
    placed = Sentence(GIVEN.words, GIVEN.tags, text=text, starts=(0, 5, 9, 13, 17), ends=(4, 8, 12, 17, 18))
    for level in (each for each in LEVELS if each.keeps_words):
        (found,) = noisy([placed], level)
        assert found.text is not None
        assert found.words == tuple(found.text[start:end] for start, end in found.offsets())
        assert found.text[found.ends[3] : found.starts[4]] == "", "no space is added before the full stop"


def test_lost_spaces_are_scored_by_characters() -> None:
    """Anna Kim and Bert are no longer tokens of their own, so they count as gold that is missed."""
    (found,) = noisy([GIVEN], NoiseLevel(SPACES, 1.0))
    assert found.text == "AnnaKimmetBert."
    assert found.words[0].startswith("AnnaKimmet")
    gold = {*char_spans(found, IOB2), *found.unreachable}
    assert gold == {(0, 7, "PER"), (10, 14, "PER")}


def test_without_lost_spaces_words_are_only_cut_anew() -> None:
    (found,) = noisy([GIVEN], NoiseLevel(SPACES, 0.0), scheme=IOB2)
    assert found.words == GIVEN.words
    assert found.tags == GIVEN.tags
    (other,) = noisy([Sentence(("Anna",), ("S-PER",))], NoiseLevel(SPACES, 0.0), scheme=scheme_named("BIOES"))
    assert other.tags == ("S-PER",)


def test_plain_tags_stay_with_their_words() -> None:
    tagged = Sentence(("Anna", "sleeps"), ("PROPN", "VERB"))
    assert noisy([tagged], NoiseLevel(SPACES, 1.0), scheme=PLAIN) == [tagged]
    assert noisy([GIVEN], NoiseLevel(SPACES, 1.0), tokenizer=None) == [GIVEN]
    (typed,) = noisy([tagged], NoiseLevel(TYPOS, 1.0), scheme=PLAIN)
    assert typed.tags == tagged.tags
    assert typed.words != tagged.words


def test_words_of_a_multiword_token_are_changed_apart() -> None:
    shared = Sentence(("can", "not"), ("O", "O"), text="cannot", starts=(0, 0), ends=(6, 6))
    (found,) = noisy([shared], NoiseLevel("upper", 1.0))
    assert found.words == ("CAN", "NOT")


SPANS = st.lists(st.sampled_from([(0, 4), (5, 7), (0, 2), (8, 12)]), unique=True)


@given(SPANS, st.sampled_from(LEVELS))
def test_no_gold_of_a_raw_text_is_lost(spans: list[tuple[int, int]], level: NoiseLevel) -> None:
    """Spans end inside eojeols, and one overlaps another: each is a tag or counts as missed."""
    text, tokenizer = "삼성전자 서울에 김철수가 갔다", SyllableTokenizer()
    given_text = AnnotatedText(text=text, spans=[(start, end, "X") for start, end in spans])
    sentences = list(tagged_sentences([given_text], tokenizer, Report()))
    found = noisy(sentences, level, tokenizer=tokenizer)
    assert sum(len(char_spans(each, IOB2)) + len(each.unreachable) for each in found) == len(spans)
