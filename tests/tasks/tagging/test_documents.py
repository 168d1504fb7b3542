"""Documents built from tagged sentences: character offsets, candidates and notes."""

from __future__ import annotations

from gonie.tasks.tagging.documents import document, place
from gonie.tasks.tagging.labeller import Tagging, TokenSpan
from gonie.text.types import Candidate, Sentence, Span, Token

TEXT = "Anna met Kim. It rained."
FIRST = Sentence(words=("Anna", "met", "Kim", "."), text=TEXT, starts=(0, 5, 9, 12), ends=(4, 8, 12, 13))
SECOND = Sentence(words=("It", "rained", "."), text=TEXT, starts=(14, 17, 23), ends=(16, 23, 24))
TAGGED = Tagging(
    tags=("S-PER", "O", "S-PER", "O"),
    scores=(0.9, 0.8, 0.7, 0.6),
    spans=(TokenSpan(0, 1, "PER", 0.9), TokenSpan(2, 3, "PER", 0.7)),
)
PLAIN = Tagging(tags=("O", "O", "O"), scores=(1.0, 1.0, 1.0))


def test_tokens_and_spans_have_character_offsets_in_the_text() -> None:
    found = document(TEXT, [place(FIRST, TAGGED), place(SECOND, PLAIN)], nbest=False)
    assert found.sentences == ((0, 4), (4, 7))
    assert [TEXT[token.start : token.end] for token in found.tokens] == [token.text for token in found.tokens]
    assert found.tokens[2] == Token("Kim", 9, 12, "S-PER", 0.7)
    assert found.spans == (Span(0, 4, "PER", "Anna", 0.9), Span(9, 12, "PER", "Kim", 0.7))
    assert (found.notes, found.nbest) == ((), None)


def test_a_text_without_sentences_is_empty() -> None:
    assert document("  ", [], nbest=False).tokens == ()
    assert document("  ", [], nbest=True).nbest == ()


def test_windows_and_candidates_are_those_of_their_sentence() -> None:
    candidate = Candidate(("O", "O", "O"), 0.5)
    second = place(SECOND, PLAIN._replace(windows=3, candidates=(candidate,)))
    found = document(TEXT, [place(FIRST, TAGGED), second], nbest=True)
    assert found.nbest == ((), (candidate,))
    assert found.notes == (
        "sentence 2 has 3 tokens without a sentence end: scored in 3 overlapping windows of 512 tokens",
    )


def test_words_without_a_text_are_joined_by_spaces() -> None:
    sentence = Sentence(words=("Anna", "met", "Kim", "."))
    found = document(sentence.surface, [place(sentence, TAGGED)], nbest=False)
    assert [(token.start, token.end) for token in found.tokens] == [(0, 4), (5, 8), (9, 12), (13, 14)]
    assert found.spans[1].text == "Kim"
