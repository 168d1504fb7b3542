"""Recall by novelty: whether a model finds new names or only remembers those of the training data."""

import json
import unicodedata

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gonie.errors import InputError
from gonie.metrics.novelty import Novelty, SeenMentions, is_content, novelty_counts, novelty_recall
from gonie.text.schemes import Scheme
from gonie.text.types import Sentence

SEEN = SeenMentions.from_spans(
    [
        (["George", "Bush", "visited", "the", "Bank", "of", "England"], [(0, 2, "PER"), (3, 7, "ORG")]),
        (["Washington", "spoke"], [(0, 1, "PER")]),
        (["in", "Washington"], [(1, 2, "LOC")]),
    ]
)


@pytest.mark.parametrize(
    ("mention", "label", "expected"),
    [
        (["George", "Bush"], "PER", Novelty.SEEN),
        (["Washington"], "LOC", Novelty.SEEN),
        (["Washington"], "PER", Novelty.SEEN),
        (["Washington"], "ORG", Novelty.SEEN_OTHER_TYPE),
        (["George", "Clooney"], "PER", Novelty.PARTLY_SEEN),
        (["BANK", "of", "Korea"], "ORG", Novelty.PARTLY_SEEN),
        (["george", "bush"], "PER", Novelty.PARTLY_SEEN),
        (["The", "Duke", "of", "York"], "PER", Novelty.UNSEEN),
        (["서울"], "LOC", Novelty.UNSEEN),
    ],
)
def test_each_novelty_class_is_recognised(mention, label, expected):
    words = ["x", *mention, "y"]
    assert SEEN.novelty(words, (1, 1 + len(mention), label)) is expected


@pytest.mark.parametrize("token", ["of", "The", "J.", "--", "김", "에서", "'"])
def test_function_words_and_short_tokens_are_not_content(token):
    assert not is_content(token)


def syllables(text: str) -> Sentence:
    places = [at for at, character in enumerate(text) if not character.isspace()]
    words, ends = tuple(text[at] for at in places), tuple(at + 1 for at in places)
    return Sentence(words, text=text, starts=tuple(places), ends=ends)


def mention(text: str) -> tuple[Sentence, tuple[int, int, str]]:
    return syllables(text), (0, len(syllables(text)), "LOC")


SYLLABLES = SeenMentions.from_spans(
    [(sentence, [span]) for sentence, span in map(mention, ["서울시", "서울대학교 병원", "3월 2일"])]
)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("서울시", Novelty.SEEN),
        ("서울역", Novelty.UNSEEN),
        ("서울대학교", Novelty.PARTLY_SEEN),
        ("부산 병원", Novelty.PARTLY_SEEN),
        ("부산병원", Novelty.UNSEEN),
        ("3월 7일", Novelty.PARTLY_SEEN),
        ("시", Novelty.UNSEEN),
    ],
)
def test_mentions_of_syllables_are_compared_by_eojeol(text: str, expected: Novelty) -> None:
    assert SYLLABLES.novelty(*mention(text)) is expected
    saved = SeenMentions.from_json(json.loads(json.dumps(SYLLABLES.to_json())))
    assert saved.novelty(*mention(text)) is expected


def test_syllables_without_a_text_are_one_word() -> None:
    seen = SeenMentions.from_spans([(list("서울시"), [(0, 3, "LOC")])])
    assert seen.words == {"서울시"}
    assert seen.novelty(list("서울역"), (0, 3, "LOC")) is Novelty.UNSEEN
    assert seen.novelty(*mention("서울시 강남구")) is Novelty.PARTLY_SEEN
    older = SeenMentions.from_json({"mentions": {"서 울 시": ["LOC"]}})
    assert older == seen


def test_recall_by_novelty_of_a_small_example():
    words = [["Washington", "met", "Zidane"], ["George", "Bush"]]
    gold = [[(0, 1, "PER"), (2, 3, "PER")], [(0, 2, "PER")]]
    predicted = [[(0, 1, "LOC"), (2, 3, "PER")], [(0, 2, "PER")]]
    recall = novelty_recall(novelty_counts(words, gold, predicted, SEEN))
    assert (recall[Novelty.SEEN].gold, recall[Novelty.SEEN].correct) == (2, 1)
    assert (recall[Novelty.UNSEEN].gold, recall[Novelty.UNSEEN].recall) == (1, 1.0)
    assert recall[Novelty.PARTLY_SEEN].recall == 0.0


def test_mentions_are_collected_from_training_sentences():
    tagged = Sentence(words=("Kim", "ran"), tags=("S-PER", "O"))
    untagged = Sentence(words=("Lee",))
    assert SeenMentions.from_sentences([tagged, untagged], Scheme(kind="BIOES")).types == {"Kim": {"PER"}}
    plain = SeenMentions.from_sentences([Sentence(words=("run",), tags=("VERB",))], Scheme(kind="plain"))
    assert plain.novelty(["run"], (0, 1, "NOUN")) is Novelty.SEEN_OTHER_TYPE
    assert plain.novelty(["Run"], (0, 1, "VERB")) is Novelty.PARTLY_SEEN
    assert plain.labels == {"VERB"}


@settings(deadline=None, max_examples=50)
@given(st.dictionaries(st.text(min_size=1), st.sets(st.sampled_from("XYZ"), min_size=1), max_size=6))
def test_seen_mentions_survive_json(types):
    seen = SeenMentions.from_types(types)
    assert SeenMentions.from_json(json.loads(json.dumps(seen.to_json()))) == seen


@pytest.mark.parametrize(
    "data", [None, [], {}, {"mentions": []}, {"mentions": {"a": "PER"}}, {"mentions": {"a": [1]}}]
)
def test_invalid_data_is_refused_with_a_message(data):
    with pytest.raises(InputError, match="seen mentions"):
        SeenMentions.from_json(data)


def test_there_may_be_no_training_mentions():
    assert SeenMentions.from_spans([]).labels == frozenset()


def test_mentions_are_compared_folded():
    seen = SeenMentions.from_spans([(["LG", "전자"], [(0, 2, "ORG")])])
    words = ["ＬＧ", unicodedata.normalize("NFD", "전자")]
    assert seen.novelty(words, (0, 2, "ORG")) is Novelty.SEEN
    assert seen.novelty(words, (1, 2, "ORG")) is Novelty.PARTLY_SEEN
