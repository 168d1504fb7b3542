"""Sentences are taken apart and put together: words, columns, text and offsets must fit each other."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from gonie.text.augment.pieces import put_together, take_apart
from gonie.text.types import Sentence

WORDS = st.lists(st.text("ab가.", min_size=1, max_size=3), min_size=1, max_size=6)
TEXT = "  Rome is  big. Kim lives there."
SENTENCE = Sentence(
    ("Kim", "lives", "there", "."), ("S-PER", "O", "O", "O"), {}, TEXT, (16, 20, 26, 31), (19, 25, 31, 32)
)


def spelled(sentence: Sentence) -> list[str]:
    return [(sentence.text or "")[start:end] for start, end in sentence.offsets()]


def test_the_offsets_of_a_copy_point_to_its_words() -> None:
    pieces = take_apart(SENTENCE)
    pieces[0] = pieces[0].spelled("Kimberley")
    copy = put_together(pieces, SENTENCE.tags or (), SENTENCE)
    assert copy is not None
    assert copy.text == "Kimberley lives there."
    assert spelled(copy) == list(copy.words)
    assert copy.tags == SENTENCE.tags


@given(words=WORDS, blanks=st.lists(st.sampled_from(["", " ", "\t "]), min_size=6, max_size=6))
def test_a_sentence_is_put_together_as_it_was(words: list[str], blanks: list[str]) -> None:
    text, starts, ends = "", [], []
    for word, blank in zip(words, blanks, strict=False):
        text += blank
        starts.append(len(text))
        text += word
        ends.append(len(text))
    sentence = Sentence(
        tuple(words), ("O",) * len(words), {"pos": tuple(words)}, text, tuple(starts), tuple(ends)
    )
    assert put_together(take_apart(sentence), sentence.tags or (), sentence) is None, "nothing has changed"
    copy = put_together(take_apart(sentence), ("X",) * len(words), sentence)
    assert copy is not None
    assert (copy.words, copy.columns) == (sentence.words, sentence.columns)
    assert copy.text == text[starts[0] :]
    assert spelled(copy) == words


def test_words_without_a_text_stay_without_one() -> None:
    sentence = Sentence(("Kim", "left"), ("S-PER", "O"))
    pieces = take_apart(sentence)
    copy = put_together([pieces[0].spelled("Lee"), pieces[1]], sentence.tags or (), sentence)
    assert copy == Sentence(("Lee", "left"), ("S-PER", "O"))


def test_tokens_that_overlap_in_the_text_have_no_text_in_copies() -> None:
    sentence = Sentence(("ab", "bc"), ("O", "O"), {}, "abc", (0, 1), (2, 3))
    copy = put_together([piece.spelled("x") for piece in take_apart(sentence)], ("O", "O"), sentence)
    assert copy is not None
    assert (copy.text, copy.starts, copy.ends) == (None, (), ())


def test_a_folded_word_keeps_its_characters_in_the_text() -> None:
    """``data.fold_text`` reads full-width letters as ordinary ones, and offsets stay those of the text."""
    sentence = Sentence(("AB", "c"), ("O", "O"), {}, "ＡＢ c", (0, 3), (2, 4))
    pieces = take_apart(sentence)
    copy = put_together([pieces[0], pieces[1].spelled("d")], ("O", "O"), sentence)
    assert copy is not None
    assert (copy.text, copy.words) == ("ＡＢ d", ("AB", "d"))
