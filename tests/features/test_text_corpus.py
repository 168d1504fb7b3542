"""Batches of texts, compared with tables filled by a loop."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gonie.features.corpus import Corpus, collate
from gonie.features.text_corpus import TextCorpus, collate_texts

Shape = list[list[int]]
"""The sentence lengths of each text."""

shapes = st.lists(st.lists(st.integers(1, 5), min_size=1, max_size=4), min_size=1, max_size=6)


def made(shape: Shape, *, multi_label: bool = False, bag: bool = True) -> TextCorpus:
    """Return a corpus whose tokens are numbered from 0; the word id is that number plus 2."""
    lengths = [length for text in shape for length in text]
    tokens, number = sum(lengths), len(shape)
    sentences = Corpus(
        {
            "offsets": np.cumsum([0, *lengths]),
            "forms": np.arange(tokens, dtype=np.int32),
            "tags": np.full(tokens, -1, dtype=np.int32),
            "form_words": np.arange(tokens, dtype=np.int32) + 2,
            "form_offsets": np.arange(tokens + 1),
            "form_chars": np.ones(tokens, dtype=np.int32),
        },
        (),
    )
    counts = np.arange(number) % 3  # the first text has no n-gram
    return TextCorpus(
        sentences=sentences,
        offsets=np.cumsum([0, *map(len, shape)]),
        labels=np.eye(number, dtype=np.float32) if multi_label else np.arange(number) - 1,
        bag=(np.arange(counts.sum(), dtype=np.int32) + 50, np.cumsum([0, *counts])) if bag else None,
    )


@settings(deadline=None, max_examples=80)
@given(shapes, st.booleans(), st.randoms())
def test_a_batch_equals_tables_filled_by_a_loop(shape: Shape, multi_label: bool, random: object) -> None:
    corpus = made(shape, multi_label=multi_label)
    rows = list(range(len(shape)))
    random.shuffle(rows)  # type: ignore[attr-defined]
    rows = rows[:3]
    batch = collate_texts(corpus, np.array(rows))
    starts = corpus.sentences.arrays["offsets"]
    sentence_rows = [row for text in rows for row in range(corpus.offsets[text], corpus.offsets[text + 1])]
    for name, array in collate(corpus.sentences, np.array(sentence_rows)).items():
        np.testing.assert_array_equal(batch[name], array)
    longest = max(len(shape[text]) for text in rows)
    assert batch["places"].shape == batch["places_mask"].shape == (len(rows), longest)
    assert (batch["places"].dtype, batch["places_mask"].dtype) == (np.int64, np.bool_)
    for n, text in enumerate(rows):
        np.testing.assert_array_equal(batch["labels"][n], corpus.labels[text])
        for s in range(longest):
            real = s < len(shape[text])
            assert batch["places_mask"][n, s] == real
            if not real:
                assert batch["places"][n, s] == 0
                continue
            row = batch["places"][n, s]
            first = starts[corpus.offsets[text] + s]
            words = batch["words"][row][batch["mask"][row]]
            assert words.tolist() == list(range(first + 2, first + 2 + shape[text][s]))
        assert corpus.bag is not None
        own = batch["bag.ids"][batch["bag.offsets"][n] : batch["bag.offsets"][n + 1]]
        ids, offsets = corpus.bag
        assert own.tolist() == ids[offsets[text] : offsets[text + 1]].tolist()
    assert batch["bag.ids"].dtype == np.int64
    assert batch["bag.offsets"][-1] == len(batch["bag.ids"])


@given(shapes)
def test_a_corpus_counts_texts_tokens_and_sentences(shape: Shape) -> None:
    corpus = made(shape)
    assert len(corpus) == len(shape)
    assert corpus.tokens == sum(map(sum, shape))
    assert corpus.heights.tolist() == [len(text) for text in shape]
    assert corpus.lengths.tolist() == [max(text) for text in shape]


def test_a_corpus_without_a_bag_has_no_bag_arrays() -> None:
    batch = collate_texts(made([[2], [1, 1]], bag=False), np.array([1, 0]))
    assert not any(name.startswith("bag") for name in batch)


def test_a_text_without_a_sentence_or_a_label_is_refused() -> None:
    corpus = made([[2], [1, 1]])
    for offsets, labels in (([0, 0, 3], [0, 1]), ([0, 1, 3], [0]), ([0, 1, 2], [0, 1])):
        with pytest.raises(ValueError, match="at least one of the 3 sentences"):
            TextCorpus(sentences=corpus.sentences, offsets=np.array(offsets), labels=np.array(labels))
