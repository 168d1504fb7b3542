"""Encoded corpora: batches compared with naive tables, and incomplete folders are refused."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gonie.errors import InputError, OutputError
from gonie.features.corpus import Corpus, FolderSink, MemorySink, Sink, collate

GROUP = "g"


@st.composite
def corpora(draw: st.DrawFn) -> tuple[Corpus, list[list[int]]]:
    """Draw a corpus, and its sentences as lists of form numbers."""
    number = draw(st.integers(1, 5))
    spelled = draw(
        st.lists(st.lists(st.integers(1, 9), min_size=1, max_size=4), min_size=number, max_size=number)
    )
    forms = st.integers(0, number - 1)
    sentences = draw(st.lists(st.lists(forms, min_size=1, max_size=6), min_size=1, max_size=6))
    tokens = sum(map(len, sentences))
    counts = draw(st.lists(st.integers(0, 3), min_size=tokens, max_size=tokens))
    arrays = {
        "offsets": np.cumsum([0, *map(len, sentences)]),
        "forms": np.array([form for sentence in sentences for form in sentence], dtype=np.int32),
        "tags": np.arange(tokens, dtype=np.int32),
        "form_words": np.arange(number, dtype=np.int32) + 2,
        "form_offsets": np.cumsum([0, *map(len, spelled)]),
        "form_chars": np.array([char for form in spelled for char in form], dtype=np.int32),
        f"{GROUP}.offsets": np.cumsum([0, *counts]),
        f"{GROUP}.ids": np.arange(sum(counts), dtype=np.int32) + 100,
    }
    return Corpus(arrays, (GROUP,)), sentences


@settings(deadline=None, max_examples=80)
@given(corpora(), st.randoms())
def test_a_batch_equals_a_table_filled_by_a_loop(
    made: tuple[Corpus, list[list[int]]], random: object
) -> None:
    corpus, sentences = made
    rows = list(range(len(sentences)))
    random.shuffle(rows)  # type: ignore[attr-defined]
    rows = rows[:3]
    batch = collate(corpus, np.array(rows))
    arrays, starts = corpus.arrays, corpus.arrays["offsets"]
    width = max(len(sentences[row]) for row in rows)
    assert batch["mask"].shape == (len(rows), width)
    for b, row in enumerate(rows):
        for t in range(width):
            cell, token = b * width + t, starts[row] + t
            features = batch[f"{GROUP}.ids"][slice(*batch[f"{GROUP}.offsets"][cell : cell + 2])].tolist()
            if t >= len(sentences[row]):
                assert not batch["mask"][b, t]
                assert (batch["words"][b, t], batch["forms"][b, t], batch["tags"][b, t]) == (0, 0, -1)
                assert features == []
                continue
            form = sentences[row][t]
            assert batch["words"][b, t] == form + 2
            assert batch["tags"][b, t] == token
            assert features == (100 + np.arange(*arrays[f"{GROUP}.offsets"][token : token + 2])).tolist()
            local = batch["forms"][b, t]
            chars = batch["chars"][local]
            own = arrays["form_chars"][slice(*arrays["form_offsets"][form : form + 2])].tolist()
            assert chars.tolist() == own + [0] * (len(chars) - len(own))
            assert batch["char_lengths"][local] == len(own)
    assert len(batch["chars"]) == len({form for row in rows for form in sentences[row]}), "each form once"


@settings(deadline=None, max_examples=30)
@given(corpora())
def test_a_sentence_does_not_depend_on_its_batch(made: tuple[Corpus, list[list[int]]]) -> None:
    corpus, sentences = made
    together = collate(corpus, np.arange(len(sentences)))
    for row, sentence in enumerate(sentences):
        alone = collate(corpus, np.array([row]))
        for name in ("words", "tags"):
            assert together[name][row, : len(sentence)].tolist() == alone[name][0].tolist()
        assert alone["mask"].all()


@settings(deadline=None, max_examples=30)
@given(corpora(), st.randoms())
def test_contextual_vectors_follow_their_tokens_and_replace_bytes(
    made: tuple[Corpus, list[list[int]]], random: object
) -> None:
    corpus, sentences = made
    layers = np.random.default_rng(1).normal(size=(corpus.tokens, 2, 3)).astype(np.float16)
    forms = len(corpus.arrays["form_words"])
    spelled = Corpus({**corpus.arrays, "form_bytes": np.zeros(forms * 4, dtype=np.int16)}, corpus.groups)
    rows = list(range(len(sentences)))
    random.shuffle(rows)  # type: ignore[attr-defined]
    assert "bytes" in collate(spelled, np.array(rows))
    context = spelled.with_context("lm", layers, instead_of=["form_bytes"])
    batch = collate(context, np.array(rows))
    assert "bytes" not in batch
    assert "bytes" in collate(spelled.with_context("lm", layers), np.array(rows)), "unless it is replaced"
    assert batch["lm.context"].shape == (*batch["mask"].shape, 2, 3)
    for b, row in enumerate(rows):
        first, length = int(corpus.arrays["offsets"][row]), len(sentences[row])
        np.testing.assert_array_equal(batch["lm.context"][b, :length], layers[first : first + length])
        assert not batch["lm.context"][b, length:].any()
    assert "lm.context" not in spelled.arrays, "the corpus itself stays as it was"


def test_vectors_of_several_sources_have_separate_names() -> None:
    arrays = {
        "offsets": np.array([0, 2]),
        "forms": np.array([0, 1]),
        "tags": np.array([0, 0]),
        "form_words": np.array([2, 3]),
        "form_offsets": np.array([0, 1, 2]),
        "form_chars": np.array([4, 5]),
    }
    one, other = np.ones((2, 3)), np.full((2, 4, 5), 2.0)
    corpus = Corpus(arrays, ()).with_context("one", one).with_context("other", other)
    batch = corpus.batch(np.array([0]))
    np.testing.assert_array_equal(batch["one.context"], one[None])
    np.testing.assert_array_equal(batch["other.context"], other[None])


def test_a_corpus_counts_sentences_tokens_and_lengths() -> None:
    arrays = {"offsets": np.array([0, 2, 2, 5])}
    corpus = Corpus(arrays, ())
    assert (len(corpus), corpus.tokens, corpus.lengths.tolist()) == (3, 5, [2, 0, 3])


# --- sinks -----------------------------------------------------------------------------------------------


def fill(sink: Sink) -> Corpus:
    sink.append("offsets", np.zeros(1, dtype=np.int64))
    for end in (2, 5):
        sink.append("offsets", np.array([end], dtype=np.int64))
        sink.append("tags", np.arange(end, dtype=np.int32))
    sink.append("empty", np.zeros(0, dtype=np.int32))
    return sink.finish(("g",))


def test_a_corpus_on_disk_equals_one_in_memory(tmp_path: Path) -> None:
    held, mapped = fill(MemorySink()), fill(FolderSink(tmp_path / "deep" / "cache"))
    assert held.groups == mapped.groups == ("g",)
    again = Corpus.open(tmp_path / "deep" / "cache")
    for name, array in held.arrays.items():
        for other in (mapped, again):
            np.testing.assert_array_equal(array, other.arrays[name])
            assert other.arrays[name].dtype == array.dtype
    assert isinstance(again.arrays["tags"], np.memmap)


def test_an_unfinished_folder_is_refused(tmp_path: Path) -> None:
    """A run killed during encoding must not leave half a corpus that looks complete."""
    fill(FolderSink(tmp_path))
    second = FolderSink(tmp_path)
    second.append("offsets", np.zeros(1, dtype=np.int64))
    with pytest.raises(InputError, match="Encode it again"):
        Corpus.open(tmp_path)


def test_encoding_again_replaces_the_old_corpus(tmp_path: Path) -> None:
    fill(FolderSink(tmp_path))
    sink = FolderSink(tmp_path)
    sink.append("offsets", np.array([0, 1], dtype=np.int64))
    assert sink.finish(()).arrays["offsets"].tolist() == [0, 1]


@pytest.mark.parametrize("content", ["", "{", json.dumps([1])])
def test_a_damaged_index_is_refused(tmp_path: Path, content: str) -> None:
    (tmp_path / "corpus.json").write_text(content)
    with pytest.raises(InputError, match="cannot read an encoded corpus"):
        Corpus.open(tmp_path)


def test_a_truncated_array_is_refused(tmp_path: Path) -> None:
    fill(FolderSink(tmp_path))
    (tmp_path / "tags.bin").write_bytes(b"\0" * 8)
    with pytest.raises(InputError, match="tags"):
        Corpus.open(tmp_path)


def test_a_folder_that_cannot_be_written_is_refused(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(OutputError, match="cannot write an encoded corpus"):
        FolderSink(tmp_path / "file")
