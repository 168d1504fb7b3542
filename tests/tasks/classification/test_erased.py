"""If these break, erasing a word also changes something else in the text."""

from __future__ import annotations

import unicodedata

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from gonie.tasks.classification.erased import without
from gonie.text.fold import fold_text
from gonie.text.labelled_text import LabelledText
from gonie.text.passages import BLANK, By, Passage, Passages
from gonie.text.tokenizers import EnglishTokenizer, tokenizer
from gonie.text.types import Sentence, Span


def passage(text: str, by: By = "sentence", **more: int) -> Passage:
    return Passages(tokenizer=EnglishTokenizer(), by=by, **more)(
        LabelledText(text, ("pos",), path="f.tsv", line=3)
    )


def kept(text: Passage, words: str) -> Passage:
    keep = [word in words.split() for sentence in text.sentences for word in sentence.words]
    return without(text, np.array(keep))


def test_erasing_a_token_removes_its_characters() -> None:
    left = kept(passage("It is not good."), "It is good .")
    assert [sentence.words for sentence in left.sentences] == [("It", "is", "good", ".")]
    assert left.running == "It is     good."
    assert left.labels == ("pos",)


def test_neighbouring_words_are_not_joined() -> None:
    assert kept(passage("good,cheap"), "good cheap").running == "good cheap"


def test_words_of_a_decomposed_text_are_erased_where_they_were_written() -> None:
    text = unicodedata.normalize("NFD", "영화가 정말 재미있다.")
    cut = Passages(tokenizer=tokenizer(language="ko", unit="eojeol", fold=True))(LabelledText(text))
    assert cut.running == text
    left = without(cut, np.array([True, False, True, True]))
    assert fold_text(left.running).split() == ["영화가", "재미있다."]
    assert [fold_text(word) for word in left.sentences[0].words] == ["영화가", "재미있다", "."]
    for sentence in (*cut.sentences, *left.sentences):
        assert [text[start:end] for start, end in sentence.offsets()] == list(sentence.words)


def test_a_sentence_without_tokens_is_removed() -> None:
    left = kept(passage("It rains. We go!"), "We go !")
    assert [sentence.words for sentence in left.sentences] == [("We", "go", "!")]
    assert left.sentences[0].starts == (10, 13, 15)


def test_a_fully_erased_text_reads_as_an_empty_one() -> None:
    text = passage("It rains. We go!")
    left = kept(text, "")
    empty = passage("")
    assert left.sentences[0].words == empty.sentences[0].words == (BLANK,)
    assert (left.path, left.line, left.sentences[0].line) == ("f.tsv", 3, 3)
    assert not left.running.strip()


def test_marks_between_sentences_do_not_shift_the_erased_characters() -> None:
    """The running text must be erased exactly at the word."""
    left = kept(passage("so it <s> goes on <s> and on", by="mark"), "so it goes and")
    assert left.running.split() == ["so", "it", "goes", "and"]


def test_text_outside_the_tokens_is_kept() -> None:
    left = kept(passage("one two three", max_tokens=2), "two")
    assert left.running.split() == ["two", "three"]


def test_a_mark_is_a_token_without_characters() -> None:
    cut = Passages(tokenizer=EnglishTokenizer())(LabelledText("a big shop", marks=(Span(2, 5, "e1", "big"),)))
    left = kept(cut, "a <e1> </e1> shop")
    assert left.sentences[0].words == ("a", "<e1>", "</e1>", "shop")
    assert left.running == "a     shop"


def test_shared_characters_are_kept_while_a_token_needs_them() -> None:
    """Two morphemes may share a syllable; erasing one keeps the characters of the other."""
    both = Sentence(("하", "았", "다"), None, {}, "했다", (0, 0, 1), (1, 1, 2))
    text = Passage((both,), "했다")
    assert without(text, np.array([True, False, True])).running == "했다"
    assert without(text, np.array([False, False, True])).running == " 다"


@settings(deadline=None)
@given(st.text("ab ,.é한\U0001f600", max_size=30), st.data())
def test_erasing_in_two_steps_equals_erasing_at_once(text: str, data: st.DataObject) -> None:
    whole = passage(text)
    tokens = sum(map(len, whole.sentences))
    first, second = (
        np.array(data.draw(st.lists(st.booleans(), min_size=tokens, max_size=tokens))) for _ in "ab"
    )
    if not first.any():
        return
    at_once = without(whole, first & second)
    in_turn = without(without(whole, first), second[first])
    assert [s.words for s in in_turn.sentences] == [s.words for s in at_once.sentences]
    assert in_turn.running == at_once.running
    assert len(at_once.running) == len(whole.running)
    everything = without(whole, np.ones(tokens, dtype=bool))
    assert everything == whole


def test_tokens_beyond_the_searched_characters_can_be_erased() -> None:
    """Only the first characters of a very long text are searched for n-grams; its tokens may go further."""
    text = passage("It is not good.")
    left = kept(text._replace(running=text.running[:8]), "It good")
    assert left.running == "It      "
