"""The tagger, on a toy model with known answers."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from gonie.errors import InputError
from gonie.features.corpus import Corpus
from gonie.features.encoding import Encoding
from gonie.features.windows import OVERLAP, WINDOW
from gonie.runtime.forward_backward import Lattice
from gonie.runtime.groups import MOST
from gonie.tasks.tagging import tagger as predictor
from gonie.tasks.tagging.tagger import MAX_TOKENS, Tagger
from gonie.text.schemes import problems
from gonie.text.tokenizers import FoldedTokenizer
from gonie.text.types import Document, Sentence, Span


def names(document: Document) -> list[tuple[str, str]]:
    return [(span.text, span.label) for span in document.spans]


def test_a_document_has_tokens_spans_and_scores(tagger: Tagger) -> None:
    document = tagger("Hello  George . I see New York .")
    assert names(document) == [("George", "PER"), ("New York", "LOC")]
    assert [document.text[s.start : s.end] for s in document.spans] == ["George", "New York"]
    assert [t.text for t in document.tokens] == ["Hello", "George", ".", "I", "see", "New", "York", "."]
    assert all(document.text[t.start : t.end] == t.text for t in document.tokens)
    assert document.tags == ("O", "S-PER", "O", "O", "O", "B-LOC", "E-LOC", "O")
    assert document.sentences == ((0, 3), (3, 8))
    assert all(0.5 < item.score <= 1 for item in (*document.tokens, *document.spans))
    assert document.notes == ()


def test_spans_of_folded_text_have_the_offsets_of_the_text_as_written(
    encoding: Encoding, tagger: Tagger
) -> None:
    folded = Tagger(
        encoding=Encoding.from_json({**encoding.to_json(), "fold": True}),
        tokenizer=FoldedTokenizer(tagger.tokenizer),
        scorer=tagger.scorer,
        decoder=tagger.decoder,
    )
    text = "Caf\u0065\u0301 Ｇｅｏｒｇｅ . I see Ｎｅｗ　York ."
    document = folded(text)
    assert names(document) == [("Ｇｅｏｒｇｅ", "PER"), ("Ｎｅｗ　York", "LOC")]
    assert document.text == text
    assert all(text[item.start : item.end] == item.text for item in (*document.tokens, *document.spans))
    assert names(folded.tag_tokens([["Ｎｅｗ", "Ｙｏｒｋ"]])[0]) == [("Ｎｅｗ Ｙｏｒｋ", "LOC")]
    assert names(tagger(text)) == []


@pytest.mark.parametrize("text", ["", "   ", "\n\t"])
def test_a_text_without_tokens_is_an_empty_document(tagger: Tagger, text: str) -> None:
    assert tagger(text) == Document(text=text)


def test_span_scores_are_the_probability_of_their_tags(encoding: Encoding, tagger: Tagger) -> None:
    """The score of an entity must be its probability under the model, here computed by enumeration."""
    (tagging,) = tagger.tag_sentences([Sentence(words=("New", "York"))])
    batch = {"words": np.array([[encoding.word_id("New"), encoding.word_id("York")]])}
    emissions = tagger.scorer.scores(batch)[0].astype(float)
    labels = encoding.labels
    weights = {
        (a, b): np.exp(emissions[0, i] + emissions[1, j])
        for i, a in enumerate(labels)
        for j, b in enumerate(labels)
        if not problems([a, b], encoding.scheme)
    }
    ((start, end, label, score),) = tagging.spans
    assert (start, end, label) == (0, 2, "LOC")
    assert score == pytest.approx(weights["B-LOC", "E-LOC"] / sum(weights.values()))
    first = sum(weight for (a, _), weight in weights.items() if a == "B-LOC")
    assert tagging.scores[0] == pytest.approx(first / sum(weights.values()))


def test_tag_tokens_keeps_the_words_given(tagger: Tagger) -> None:
    first, second, third = tagger.tag_tokens([["I", "love", "New", "York"], [], ("삼성", "George")])
    assert first.text == "I love New York"
    assert first.spans[0] == Span(start=7, end=15, label="LOC", text="New York", score=first.spans[0].score)
    assert second == Document(text="")
    assert [(t.text, t.start, t.end, t.tag) for t in third.tokens] == [
        ("삼성", 0, 2, "O"),
        ("George", 3, 9, "S-PER"),
    ]


def test_tokens_have_their_morphemes(tagger: Tagger) -> None:
    sentence = Sentence(words=("공부", "했다"), columns={"morphemes": ("공부/NNG", "하/XSV+었/EP+다/EF")})
    (document,) = tagger.pipe_sentences([sentence])
    assert [m.form for m in document.tokens[1].morphemes] == ["하", "었", "다"]
    assert tagger("공부").tokens[0].morphemes == ()


def test_plain_labels_give_tags_and_no_spans(
    plain_encoding: Encoding, word_scorer: Any, make_predictor: Any
) -> None:
    scorer = word_scorer(plain_encoding, {"George": "NOUN", "sleeps": "X"})
    document = make_predictor(plain_encoding, scorer)("George sleeps")
    assert document.tags == ("NOUN", "X")
    assert document.spans == ()


@settings(deadline=None, max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.lists(st.lists(st.sampled_from(["George", "New", "York", "a", "b", "."]), max_size=30), max_size=30)
)
def test_batching_does_not_change_tags_or_scores(tagger: Tagger, texts: list[list[str]]) -> None:
    """Batches are sorted and padded; answers must stay in order and must not depend on the batch."""
    joined = [" ".join(words) for words in texts]
    together = list(tagger.pipe(joined))
    assert [document.text for document in together] == joined
    for document, text in zip(together, joined, strict=True):
        alone = tagger(text)
        assert document.tags == alone.tags
        assert names(document) == names(alone)
        np.testing.assert_allclose([t.score for t in document.tokens], [t.score for t in alone.tokens])


def test_a_stream_is_read_ahead_but_not_completely(tagger: Tagger) -> None:
    """Tagging an endless stream must neither wait for its end nor hold it in memory."""
    taken = 0

    def endless() -> Iterator[str]:
        nonlocal taken
        while True:
            taken += 1
            yield "George sleeps in New York"

    documents = tagger.pipe(endless())
    next(documents)
    assert taken < 100  # the first answers come soon
    for _ in range(20_000):
        next(documents)
    assert taken - 20_000 < 2 * MOST / 5


def test_a_sentence_beyond_the_limit_is_windowed_and_noted(
    encoding: Encoding, word_scorer: Any, make_predictor: Any
) -> None:
    """A long text without a full stop must be tagged like a short one, also across window boundaries."""
    scorer = word_scorer(encoding, {"George": "S-PER", "New": "B-LOC", "York": "E-LOC"})
    tagger = make_predictor(encoding, scorer)
    words = ["New", "York", "a"] * 1000
    (document,) = tagger.tag_tokens([words])
    assert document.tags == ("B-LOC", "E-LOC", "O") * 1000
    assert len(document.spans) == 1000
    assert max(shape[1] for shape in scorer.shapes) == WINDOW
    windows = -(-(3000 - OVERLAP) // (WINDOW - OVERLAP))
    assert document.notes == (
        "sentence 1 has 3,000 tokens without a sentence end: "
        f"scored in {windows} overlapping windows of 512 tokens",
    )
    assert tagger.tag_sentences([Sentence(words=tuple(words))])[0].windows == windows


def test_a_sentence_at_the_limit_is_not_windowed(tagger: Tagger) -> None:
    (at, over) = tagger.tag_tokens([["a"] * MAX_TOKENS, ["a"] * (MAX_TOKENS + 1)])
    assert at.notes == ()
    assert len(over.notes) == 1


class MoodScorer:
    """Draws random scores for each window, so that overlapping windows disagree."""

    at_once = 1

    def __init__(self, tags: int) -> None:
        self._random = np.random.default_rng(0)
        self._tags = tags

    def scores(self, batch: Any) -> np.ndarray:
        return self._random.normal(size=(*batch["words"].shape, self._tags)).astype(np.float32) * 5


def test_windows_that_disagree_still_join_into_valid_tags(encoding: Encoding, make_predictor: Any) -> None:
    """An entity cut at a join would give an invalid tag sequence."""
    tagger = make_predictor(encoding, MoodScorer(len(encoding.labels)))
    for length in (1001, 1025, 2000, 4321):
        (tagging,) = tagger.tag_sentences([Sentence(words=("a",) * length)])
        assert len(tagging.tags) == length
        assert problems(tagging.tags, encoding.scheme) == []


class HazyScorer:
    """Gives uncertain scores that depend on the word and on its position in the window."""

    at_once = 1

    def __init__(self, encoding: Encoding) -> None:
        generator = np.random.default_rng(1)
        self._table = generator.normal(size=(len(encoding.words), len(encoding.labels))) * 2
        self._edges = generator.normal(size=(WINDOW, len(encoding.labels))) / 2

    def scores(self, batch: Any) -> np.ndarray:
        words = batch["words"]
        return (self._table[words] + self._edges[: words.shape[1]]).astype(np.float32)


def test_chunks_give_the_same_result_as_one_chain(
    encoding: Encoding, make_predictor: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A line beyond 16,384 tokens keeps its tags, its probabilities and the count of its windows."""
    tagger = make_predictor(encoding, HazyScorer(encoding))
    words = np.random.default_rng(2).choice(["George", "New", "York", "sleeps", "a"], size=9000)
    sentence = Sentence(words=tuple(words.tolist()))
    (whole,) = tagger.tag_sentences([sentence])
    monkeypatch.setattr(predictor, "CHUNK", 1500)
    monkeypatch.setattr(predictor, "WINDOWS_AT_ONCE", 3)
    (found,) = tagger.tag_sentences([sentence])
    assert found.tags == whole.tags
    assert found.windows == whole.windows == -(-(9000 - OVERLAP) // (WINDOW - OVERLAP))
    np.testing.assert_allclose(found.scores, whole.scores, atol=1e-6)
    assert [span[:3] for span in found.spans] == [span[:3] for span in whole.spans]
    np.testing.assert_allclose([s.score for s in found.spans], [s.score for s in whole.spans], atol=1e-6)


def test_memory_is_bounded_for_sentences_of_any_length(
    encoding: Encoding, make_predictor: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The tables of a very long line must not grow with its length; the test counts their cells."""
    tagger = make_predictor(encoding, HazyScorer(encoding))
    sizes: list[int] = []
    lattice = tagger.decoder.lattice

    def measured(scores: np.ndarray, lengths: np.ndarray) -> Lattice:
        sizes.append(scores.size)
        return lattice(scores, lengths)

    monkeypatch.setattr(tagger.decoder, "lattice", measured)
    words = np.random.default_rng(3).choice(["George", "New", "York", "a"], size=40_000)
    tagger.tag_sentences([Sentence(words=tuple(words.tolist()))])
    assert max(sizes) == predictor.CHUNK * len(encoding.labels)
    monkeypatch.setattr(predictor, "CHUNK_CELLS", 3000 * len(encoding.labels))  # as if there were more tags
    sizes.clear()
    tagger.tag_sentences([Sentence(words=tuple(words.tolist()))])
    assert max(sizes) == predictor.CHUNK_CELLS


def test_a_text_of_many_sentences_is_encoded_in_blocks(
    tagger: Tagger, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Encoding a whole book at once would take gigabytes of memory."""
    taken: list[int] = []
    encode = tagger.encoding.encode

    def measured(sentences: list[Sentence]) -> Corpus:
        taken.append(sum(map(len, sentences)))
        return encode(sentences)

    monkeypatch.setattr(tagger.encoding, "encode", measured)
    document = tagger("George sleeps " * 400 + "." + " George ." * 30_000)
    assert len(document.spans) == 30_400
    assert sum(taken) == len(document.tokens)
    assert max(taken) <= MOST + MAX_TOKENS


def test_a_very_long_sentence_is_tagged_to_its_end(tagger: Tagger) -> None:
    document = tagger("George " * 20_000)
    assert len(document.spans) == 20_000


def test_hostile_text_is_tagged_or_refused(tagger: Tagger) -> None:
    for text in (
        "\x00\x01\x1b[31m George",
        "a" * 100_000 + " George",
        "\u202e George \u0000",
        "👩‍👩‍👧 George",
    ):
        assert names(tagger(text)) == [("George", "PER")]
    with pytest.raises(InputError, match=r"lone surrogate U\+D800 at character 3"):
        tagger("ab \ud800")
    with pytest.raises(InputError, match=r"expected a text \(str\), got bytes"):
        tagger(b"George")  # type: ignore[arg-type]


def test_invalid_words_are_refused(tagger: Tagger) -> None:
    with pytest.raises(InputError, match="list of words, got the text 'George sleeps'"):
        tagger.tag_tokens(["George sleeps"])
    with pytest.raises(InputError, match="empty word"):
        tagger.tag_tokens([["a", ""]])


def test_threads_can_share_a_tagger(tagger: Tagger) -> None:
    texts = [f"George and New York {'x ' * i}" for i in range(40)]
    wanted = [tagger(text) for text in texts]
    got: dict[int, list[Document]] = {}

    def work(number: int) -> None:
        got[number] = [tagger(text) for text in texts]

    threads = [threading.Thread(target=work, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert all(got[number] == wanted for number in range(4))


def test_decoding_the_emissions_gives_the_tags(tagger: Tagger) -> None:
    """Explanations must use the scores that decoding uses, for sentences of any length."""
    long = ("in", "New", "York") * MAX_TOKENS
    sentences = [Sentence(words) for words in (("George", "sleeps"), (), long, ("York",))]
    found = tagger.emissions(sentences)
    assert [len(scores) for scores in found] == [2, 0, len(long), 1]
    for sentence, scores, tagging in zip(sentences, found, tagger.tag_sentences(sentences), strict=True):
        if sentence.words:
            tags, _ = tagger.decoder.viterbi(scores[None], [len(sentence)])
            assert tuple(tagger.labels[k] for k in tags[0]) == tagging.tags
