"""Baselines: if these break, a trained tagger is compared with a baseline that is too weak."""

from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gonie.metrics.baselines import capitalised, exact_match, is_capitalised
from gonie.metrics.evaluation import evaluate
from gonie.text.schemes import IOB2, PLAIN, Scheme, from_spans, problems
from gonie.text.types import Sentence

SCHEMES = (
    *(Scheme(kind=kind) for kind in ("IOB1", "IOB2", "BIOES", "BILOU")),
    Scheme(kind="IOB2", separator="_", typed_inside=False),
    Scheme(kind="BIOES", affix="suffix"),
)
WORDS = ["Anna", "Kim", "met", "Bert", "Lee", "in", "New", "York", "today"]
SPANS = [(0, 2, "PER"), (3, 5, "PER"), (6, 8, "LOC")]


def sentence(text: str) -> Sentence:
    """Return a sentence from words and tags such as ``Anna/B-PER sleeps/O``."""
    words, tags = zip(*(pair.split("/") for pair in text.split()), strict=True)
    return Sentence(words=words, tags=tags)


def in_scheme(scheme: Scheme) -> Sentence:
    return Sentence(words=tuple(WORDS), tags=tuple(from_spans(SPANS, len(WORDS), scheme)))


@pytest.mark.parametrize("scheme", SCHEMES, ids=str)
def test_exact_match_restores_the_training_tags(scheme: Scheme) -> None:
    known = in_scheme(scheme)
    assert exact_match([known], scheme=scheme).tag(known.words) == known.tags


@pytest.mark.parametrize("scheme", SCHEMES, ids=str)
def test_consecutive_capitalised_words_become_one_entity(scheme: Scheme) -> None:
    tags = capitalised([in_scheme(scheme)], scheme=scheme).tag(("Cleo", "Park", "sleeps", "Dora"))
    assert tags == tuple(from_spans([(0, 2, "PER"), (3, 4, "PER")], 4, scheme))


def test_a_word_gets_its_most_frequent_label_at_any_position() -> None:
    train = [sentence("New/B-LOC York/I-LOC Times/O"), sentence("York/B-LOC York/B-PER")]
    baseline = exact_match(train, scheme=IOB2)
    assert baseline.tag(("York", "New", "Times")) == ("B-LOC", "I-LOC", "O")


def test_words_match_exactly_and_unknown_words_are_outside() -> None:
    baseline = exact_match([sentence("Anna/B-PER")], scheme=IOB2)
    assert baseline.tag(("Anna", "anna", "Bert")) == ("B-PER", "O", "O")


def test_an_unknown_word_gets_the_most_frequent_plain_tag() -> None:
    train = [sentence("a/DET cat/NOUN sees/VERB a/DET dog/NOUN house/NOUN")]
    assert exact_match(train, scheme=PLAIN).tag(("a", "zebra", "sees")) == ("DET", "NOUN", "VERB")


def test_capitalised_words_get_the_bare_label() -> None:
    """Course exercises often use PERSON and O: no scheme, one class."""
    train = [sentence("Anna/PERSON Kim/PERSON lives/O in/O Seoul/O")]
    assert capitalised(train, scheme=PLAIN).tag(("Bert", "sleeps", ".")) == ("PERSON", "O", "O")
    assert exact_match(train, scheme=PLAIN).tag(("Kim", "Bert")) == ("PERSON", "O")


def test_part_of_speech_depends_on_capitalisation() -> None:
    train = [sentence("Anna/PROPN eats/VERB food/NOUN in/ADP New/PROPN food/NOUN")]
    assert capitalised(train, scheme=PLAIN).tag(("Bert", "cooks")) == ("PROPN", "NOUN")


def test_types_are_counted_by_entity() -> None:
    train = [sentence("Bank/B-ORG of/I-ORG New/I-ORG York/I-ORG in/O Oslo/B-LOC and/O Lima/B-LOC")]
    assert capitalised(train, scheme=IOB2).tag(("Paris",)) == ("B-LOC",)


def test_ties_are_resolved_by_name() -> None:
    one, other = sentence("X/B-PER"), sentence("X/B-LOC")
    for train in ([one, other], [other, one]):
        assert exact_match(train, scheme=IOB2).tag(("X",)) == ("B-LOC",)
        assert capitalised(train, scheme=IOB2).tag(("Y",)) == ("B-LOC",)


@pytest.mark.parametrize("make", [exact_match, capitalised])
def test_without_training_entities_no_entity_is_predicted(make) -> None:
    for train in ([], [Sentence(words=("Anna",))], [sentence("Anna/O")]):
        assert make(train, scheme=IOB2).tag(("Anna", "Kim")) == ("O", "O")
    assert make([], scheme=PLAIN).tag(("Anna",)) == ("O",)
    assert make([], scheme=IOB2).tag(()) == ()


def test_training_sentences_may_be_an_iterator() -> None:
    stream = iter([sentence("Anna/B-PER sleeps/O"), sentence("Bert/B-PER")])
    assert exact_match(stream, scheme=IOB2).tag(("Bert", "Anna")) == ("B-PER", "I-PER")


@pytest.mark.parametrize(
    ("word", "yes"),
    [
        ("Anna", True),
        ("Éva", True),
        ("Ядвига", True),
        ("ǅuro", True),  # a title-case letter
        ("anna", False),
        ("iPhone", False),
        ("서울", False),
        ("3M", False),
        ("'Anna", False),
        ("", False),
    ],
)
def test_capitalised_words_of_any_script_are_recognised(word: str, yes: bool) -> None:
    assert is_capitalised(word) is yes


tagged = st.lists(
    st.tuples(st.sampled_from(["Anna", "Seoul", "in", "of", "x"]), st.sampled_from(["O", "PER", "LOC"])),
    max_size=8,
)


@given(st.lists(tagged, max_size=5), st.lists(st.sampled_from(["Anna", "Seoul", "in", "of", "y"])))
def test_tags_are_valid_and_labels_equal_a_naive_count(train, words) -> None:
    """A word gets one of its most frequent labels."""
    texts = [Sentence(words=tuple(w for w, _ in row), tags=tuple(t for _, t in row)) for row in train]
    spans = [[(at, at + 1, t) for at, (_, t) in enumerate(row) if t != "O"] for row in train]
    cut = [
        Sentence(words=s.words, tags=tuple(from_spans(found, len(s), IOB2)))
        for s, found in zip(texts, spans, strict=True)
    ]
    tags = exact_match(cut, scheme=IOB2).tag(words)
    assert not problems(tags, IOB2)
    for word, tag in zip(words, tags, strict=True):
        counts = Counter(t for row in train for w, t in row if w == word) or Counter(["O"])
        due = {label for label, count in counts.items() if count == max(counts.values())}
        assert (tag.partition("-")[2] or "O") in due
    assert not problems(capitalised(cut, scheme=IOB2).tag(words), IOB2)


def test_a_baseline_is_scored_like_any_tagger() -> None:
    known = in_scheme(IOB2)
    result = evaluate([known], [exact_match([known], scheme=IOB2).tag(known.words)], scheme=IOB2, bootstrap=0)
    assert result.headline == ("f1", 1.0)
