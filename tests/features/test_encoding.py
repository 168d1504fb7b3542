"""Encoding and collating, compared with a naive lookup token by token."""

from __future__ import annotations

import json
import unicodedata
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gonie.errors import GonieError
from gonie.features.byte_spelling import begin_row, end_row, spell_bytes
from gonie.features.context import Context
from gonie.features.corpus import Corpus, FolderSink, collate
from gonie.features.encoding import (
    MAX_CHARS,
    CorpusCounts,
    Encoding,
    close_labels,
    count,
    spell,
    with_frequent,
)
from gonie.features.spelling import Spelling
from gonie.text.normalize import Normalization
from gonie.text.schemes import Scheme
from gonie.text.types import Sentence

BIOES = Scheme(kind="BIOES")
NORMAL = Normalization(lowercase=True, digits=True)


def sentence(text: str, tags: str) -> Sentence:
    return Sentence(words=tuple(text.split()), tags=tuple(tags.split()))


TRAIN = [
    sentence("EU rejects German call", "S-ORG O S-MISC O"),
    sentence("Peter Blackburn", "B-PER E-PER"),
    sentence("삼성 전자 는 좋다", "B-ORG E-ORG O O"),
    sentence("1996-08-22", "O"),
]


def fitted(
    *,
    jamo: bool = False,
    extra: tuple[str, ...] = (),
    longest: int = 0,
    fold: bool = False,
    correct_typos: bool = False,
    train: Sequence[Sentence] = TRAIN,
) -> Encoding:
    extractors = [Spelling(), Context(window=1)]
    counts = count(train, normalization=NORMAL, jamo=jamo, extractors=extractors, fold=fold)
    return Encoding.fit(
        counts,
        scheme=BIOES,
        normalization=NORMAL,
        jamo=jamo,
        extractors=extractors,
        min_count=1,
        min_feature_count=1,
        extra_words=extra,
        longest=longest,
        fold=fold,
        correct_typos=correct_typos,
    )


def check_against_look_up(
    encoding: Encoding, sentences: list[Sentence], corpus: Corpus, rows: list[int]
) -> None:
    batch = collate(corpus, np.array(rows))
    width = max(len(sentences[row]) for row in rows)
    for b, row in enumerate(rows):
        chosen = sentences[row]
        features = {e.name: e.extract(chosen) for e in encoding.extractors}
        assert batch["lengths"][b] == len(chosen)
        assert batch["mask"][b].tolist() == [t < len(chosen) for t in range(width)]
        for t in range(width):
            cell = b * width + t
            if t >= len(chosen):
                assert batch["words"][b, t] == 0
                assert batch["tags"][b, t] == -1
            else:
                word = chosen.words[t]
                assert batch["words"][b, t] == encoding.word_id(word)
                form = batch["forms"][b, t]
                spelled = spell(word, jamo=encoding.jamo)
                chars = batch["chars"][form, : batch["char_lengths"][form]]
                assert chars.tolist() == encoding.chars.ids(spelled).tolist()
                assert not batch["chars"][form, len(spelled) :].any()
                tag = None if chosen.tags is None else chosen.tags[t]
                assert batch["tags"][b, t] == encoding.label_ids.get(tag, -1)
            for group, strings in features.items():
                first, last = batch[f"{group}.offsets"][cell : cell + 2]
                wanted = strings[t] if t < len(chosen) else []
                known = [i for i in encoding.features[group].ids(wanted).tolist() if i != 1]
                assert sorted(batch[f"{group}.ids"][first:last].tolist()) == sorted(known)


words = st.text(st.characters(codec="utf-8", exclude_categories=("Z", "C")), min_size=1, max_size=8)
sentences = st.lists(
    st.lists(words, min_size=1, max_size=5).map(lambda w: Sentence(words=tuple(w))), min_size=1, max_size=5
)


@settings(deadline=None, max_examples=60)
@given(sentences, st.booleans(), st.randoms())
def test_a_batch_equals_a_lookup_token_by_token(fresh: list[Sentence], jamo: bool, random: object) -> None:
    encoding = fitted(jamo=jamo)
    everything = [*TRAIN, *fresh]
    rows = list(range(len(everything)))
    random.shuffle(rows)  # type: ignore[attr-defined]
    check_against_look_up(encoding, everything, encoding.encode(everything), rows[:4])


def test_a_memory_mapped_corpus_equals_one_in_memory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("gonie.features.encoding.BLOCK", 3)  # several blocks
    encoding = fitted()
    held = encoding.encode(TRAIN)
    mapped = encoding.encode(TRAIN, FolderSink(tmp_path / "cache"))
    assert isinstance(mapped.arrays["forms"], np.memmap)
    assert set(held.arrays) == set(mapped.arrays)
    for name, array in held.arrays.items():
        np.testing.assert_array_equal(array, mapped.arrays[name])
    check_against_look_up(encoding, TRAIN, mapped, [3, 0, 2])


def test_a_folder_without_a_corpus_is_refused(tmp_path: Path) -> None:
    with pytest.raises(GonieError, match=r"corpus\.json"):
        Corpus.open(tmp_path)


def test_an_encoding_survives_json() -> None:
    encoding = fitted(extra=("zebra",))
    again = Encoding.from_json(json.loads(json.dumps(encoding.to_json(), ensure_ascii=False)))
    assert again.to_json() == encoding.to_json()
    one, other = encoding.encode(TRAIN), again.encode(TRAIN)
    for name, array in one.arrays.items():
        np.testing.assert_array_equal(array, other.arrays[name])


def test_pretrained_words_are_known_with_other_case_and_digits() -> None:
    encoding = fitted(extra=("zebra", "0000"))
    assert encoding.word_id("Zebra") == encoding.words.id("zebra") >= encoding.words.trained
    assert encoding.word_id("1984") == encoding.words.id("0000")
    assert encoding.word_id("qwertz") == 1


def test_an_unknown_gold_tag_is_minus_one() -> None:
    corpus = fitted().encode([sentence("a b", "S-LOC O")])
    assert corpus.arrays["tags"].tolist() == [-1, fitted().label_ids["O"]]


def test_labels_are_completed_by_the_scheme() -> None:
    assert close_labels(["O", "S-PER"], BIOES) == ("O", "S-PER", "B-PER", "E-PER", "I-PER")
    assert close_labels(["VERB", "NOUN"], Scheme(kind="plain")) == ("NOUN", "VERB")


def test_long_words_are_truncated_for_the_character_network() -> None:
    encoding = fitted()
    corpus = encoding.encode([Sentence(words=("x" * 100_000,))])
    assert corpus.arrays["form_offsets"].tolist() == [0, MAX_CHARS]


def test_no_sentences_give_an_empty_corpus() -> None:
    corpus = fitted().encode([])
    assert len(corpus) == corpus.tokens == 0


# --- bytes for a language model --------------------------------------------------------------------------


def test_without_a_language_model_no_bytes_are_stored() -> None:
    """Old bundles still load, and new ones have the same content as before."""
    encoding = fitted()
    assert "longest" not in encoding.to_json()
    assert Encoding.from_json(encoding.to_json()).longest == 0
    corpus = encoding.encode(TRAIN)
    assert "form_bytes" not in corpus.arrays
    assert "bytes" not in collate(corpus, np.array([0]))


def test_the_maximum_number_of_bytes_survives_json() -> None:
    encoding = fitted(longest=9)
    again = Encoding.from_json(json.loads(json.dumps(encoding.to_json())))
    assert again.longest == 9
    assert again.to_json() == encoding.to_json()


@settings(deadline=None, max_examples=40)
@given(sentences, st.integers(3, 20), st.randoms())
def test_each_token_points_to_the_bytes_of_its_own_word(
    fresh: list[Sentence], longest: int, random: object
) -> None:
    """Long words are truncated. The rows come after those of the two sentence marks."""
    encoding, everything = fitted(longest=longest), [*TRAIN, *fresh]
    rows = list(range(len(everything)))
    random.shuffle(rows)  # type: ignore[attr-defined]
    batch = collate(encoding.encode(everything), np.array(rows[:3]))
    np.testing.assert_array_equal(batch["bytes"][0], begin_row(longest))
    np.testing.assert_array_equal(batch["bytes"][1], end_row(longest))
    assert batch["bytes"].dtype == np.int64
    for b, row in enumerate(rows[:3]):
        for t, word in enumerate(everything[row].words):
            spelled = spell_bytes([word], longest=longest)[0]
            np.testing.assert_array_equal(batch["bytes"][2 + batch["forms"][b, t]], spelled)


def test_a_memory_mapped_corpus_has_the_same_bytes(tmp_path: Path) -> None:
    encoding = fitted(longest=6)
    mapped = encoding.encode(TRAIN, FolderSink(tmp_path / "cache"))
    rows = np.array([2, 0])
    np.testing.assert_array_equal(
        collate(mapped, rows)["bytes"], collate(encoding.encode(TRAIN), rows)["bytes"]
    )


def rewritten(sentences: Sequence[Sentence]) -> list[Sentence]:
    """Return the sentences in another form of writing: decomposed Hangul, full-width letters and digits."""
    wide = {code: chr(code + 0xFEE0) for code in range(0x21, 0x7F)}
    return [
        replace(s, words=tuple(unicodedata.normalize("NFD", word).translate(wide) for word in s.words))
        for s in sentences
    ]


@pytest.mark.parametrize("jamo", [False, True])
def test_folded_words_have_the_same_ids_in_every_form_of_writing(jamo: bool) -> None:
    encoding = fitted(jamo=jamo, longest=20, fold=True)
    clean, other = encoding.encode(TRAIN), encoding.encode(rewritten(TRAIN))
    assert set(clean.arrays) == set(other.arrays)
    for name, array in clean.arrays.items():
        assert np.array_equal(array, other.arrays[name]), name
    assert encoding.word_id(unicodedata.normalize("NFD", "삼성")) == encoding.word_id("삼성") > 1


def test_vocabularies_do_not_depend_on_the_form_of_writing() -> None:
    assert fitted(fold=True, train=rewritten(TRAIN)).to_json() == fitted(fold=True).to_json()


def test_folding_does_not_change_folded_text() -> None:
    plain, folded = fitted(longest=20), fitted(longest=20, fold=True)
    assert folded.to_json() == {**plain.to_json(), "fold": True}
    for name, array in plain.encode(TRAIN).arrays.items():
        assert np.array_equal(array, folded.encode(TRAIN).arrays[name]), name


def test_an_encoding_saved_before_folding_does_not_fold() -> None:
    saved = fitted(fold=True).to_json()
    assert Encoding.from_json(json.loads(json.dumps(saved))).fold
    del saved["fold"]
    old = Encoding.from_json(saved)
    assert not old.fold
    assert old.word_id(unicodedata.normalize("NFD", "삼성")) == 1


def test_an_unknown_word_is_looked_up_as_the_most_frequent_word_one_typing_error_away() -> None:
    encoding = fitted(extra=("georgia", "london", "londo"), correct_typos=True)
    assert encoding.correction("Lonodn") == "london"
    assert encoding.correction("Londno") == "london"
    assert encoding.correction("LONDN") == "london", "before londo, which is rarer"
    assert encoding.word_id("Lonodn") == encoding.words.id("london")
    assert encoding.correction("London") is None, "known"
    assert encoding.correction("Londonderry") is None, "no word is near"
    assert encoding.word_id("Londonderry") == 1


def test_the_characters_of_a_corrected_word_keep_the_error() -> None:
    plain, correcting = fitted(extra=("london",)), fitted(extra=("london",), correct_typos=True)
    one, other = (each.encode([sentence("Lonodn", "O")]).arrays for each in (plain, correcting))
    np.testing.assert_array_equal(one["form_chars"], other["form_chars"])
    assert (one["form_words"][0], other["form_words"][0]) == (1, plain.words.id("london"))


def test_corrections_survive_json_and_new_labels() -> None:
    encoding = fitted(extra=("london",), correct_typos=True)
    copies = [
        Encoding.from_json(json.loads(json.dumps(encoding.to_json()))),
        encoding.with_labels(["A"], BIOES),
        encoding.merged(fitted()),
    ]
    assert [each.correction("Lonodn") for each in copies] == ["london"] * 3
    assert "correct_typos" not in fitted().to_json(), "bundles without it stay readable by older versions"


def test_words_of_other_texts_count_if_they_are_frequent_there_or_known() -> None:
    extractors = [Spelling()]

    def counted(*sentences: Sentence) -> CorpusCounts:
        return count(sentences, normalization=NORMAL, jamo=False, extractors=extractors)

    own = counted(sentence("EU rejects", "S-ORG O"))
    other = counted(sentence("EU talks talks Zeta", "S-PER O O O"), sentence("talks", "O"))
    joined = with_frequent(own, other, least=3)
    assert joined.words == {"eu": 2, "rejects": 1, "talks": 3}
    assert joined.labels == {"S-ORG": 1, "O": 1}
    assert joined.chars["E"] == 2
    assert "Z" not in joined.chars
    known = own.features["spelling"].keys()
    assert all(
        joined.features["spelling"][name] == own.features["spelling"][name] + n
        for name, n in other.features["spelling"].items()
        if name in known
    )
    assert with_frequent(own, counted(), least=1) == own
