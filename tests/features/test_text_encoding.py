"""Encoding of texts: labels stay with their texts, and a saved encoding gives the same arrays."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from gonie.errors import InputError
from gonie.features import text_encoding
from gonie.features.corpus import FolderSink
from gonie.features.encoding import Encoding, count
from gonie.features.ngrams import NGramBag, NGrams
from gonie.features.text_corpus import TextCorpus, collate_texts
from gonie.features.text_encoding import UNSEEN_LABEL, TextEncoding
from gonie.features.vocabulary import UNKNOWN
from gonie.text.labelled_text import LabelledText
from gonie.text.normalize import Normalization
from gonie.text.passages import Passages
from gonie.text.report import Report
from gonie.text.schemes import PLAIN
from gonie.text.tokenizers import EnglishTokenizer

TEXTS = [
    LabelledText("A good film. I like it!", ("pos",)),
    LabelledText("bad", ("neg",)),
    LabelledText("It is not good. No. Never.", ("neg",)),
]


def fitted(*, multi_label: bool = False, bag: bool = True) -> TextEncoding:
    passages = Passages(tokenizer=EnglishTokenizer(), by="sentence")
    normalization = Normalization(lowercase=True, digits=True)
    counts = count(
        (sentence for text in TEXTS for sentence in passages(text).sentences),
        normalization=normalization,
        jamo=False,
        extractors=(),
    )
    words = Encoding.fit(
        counts,
        scheme=PLAIN,
        normalization=normalization,
        jamo=False,
        extractors=(),
        min_count=1,
        min_feature_count=1,
    )
    return TextEncoding(
        passages=passages,
        words=words,
        labels=("neg", "pos"),
        multi_label=multi_label,
        bag=NGramBag.fit([text.text for text in TEXTS], ngrams=NGrams(chars=(1, 2))) if bag else None,
    )


def same(one: TextCorpus, other: TextCorpus) -> bool:
    rows = np.arange(len(one))
    a, b = collate_texts(one, rows), collate_texts(other, rows)
    return a.keys() == b.keys() and all(np.array_equal(a[name], b[name]) for name in a)


def test_texts_keep_their_sentences_labels_and_n_grams() -> None:
    encoding = fitted()
    report = Report()
    corpus = encoding.encode(iter(TEXTS), report=report)
    assert corpus.heights.tolist() == [2, 1, 3]
    assert corpus.lengths.tolist() == [4, 1, 5]
    assert corpus.labels.tolist() == [1, 0, 0]
    assert (report.sentences, report.tokens) == (6, corpus.tokens)
    assert not report.noticed
    assert encoding.bag is not None
    assert corpus.bag is not None
    for found, expected in zip(corpus.bag, encoding.bag.encode(t.text for t in TEXTS), strict=True):
        np.testing.assert_array_equal(found, expected)
    assert fitted(bag=False).encode(TEXTS).bag is None


def test_a_text_does_not_depend_on_the_other_texts() -> None:
    encoding = fitted()
    together = encoding.encode(TEXTS)
    for row, text in enumerate(TEXTS):
        alone, among = (
            collate_texts(encoding.encode([text]), np.array([0])),
            collate_texts(together, np.array([row])),
        )
        for name in ("words", "mask", "places", "labels", "bag.ids"):
            np.testing.assert_array_equal(alone[name], among[name])


def test_multiple_labels_are_encoded_as_a_table() -> None:
    report = Report()
    texts = [LabelledText("a", ("pos", "neg")), LabelledText("b"), LabelledText("c", ("odd", "pos"))]
    labels = fitted(multi_label=True).encode(texts, report=report).labels
    assert (labels.dtype, labels.tolist()) == (np.float32, [[1, 1], [0, 0], [0, 1]])
    assert report.noticed[UNSEEN_LABEL] == 1


def test_unknown_and_missing_labels_are_minus_one() -> None:
    report = Report()
    corpus = fitted().encode([LabelledText("a", ("odd",)), LabelledText("b")], report=report)
    assert corpus.labels.tolist() == [-1, -1]
    assert report.noticed[UNSEEN_LABEL] == 1


def test_two_labels_are_refused_for_single_label_classification() -> None:
    message = r"f:4: expected one label per text, got 'pos', 'neg'.*--label-separator"
    with pytest.raises(InputError, match=message):
        fitted().encode([LabelledText("a", ("pos", "neg"), path="f", line=4)])


def test_an_empty_text_becomes_one_unknown_word() -> None:
    batch = collate_texts(fitted().encode([LabelledText("  ")]), np.array([0]))
    assert batch["words"].tolist() == [[UNKNOWN]]
    assert batch["char_lengths"].min() > 0, "a network over characters needs one to read"
    assert len(batch["bag.ids"]) == 0


def test_no_texts_give_an_empty_corpus() -> None:
    corpus = fitted().encode([])
    assert (len(corpus), len(corpus.lengths), corpus.tokens) == (0, 0, 0)


def test_a_saved_encoding_gives_the_same_arrays() -> None:
    for encoding in (fitted(), fitted(multi_label=True, bag=False)):
        again = TextEncoding.from_json(json.loads(json.dumps(encoding.to_json())))
        assert same(encoding.encode(TEXTS), again.encode(TEXTS))


def test_encoding_on_disk_in_blocks_gives_the_same_arrays(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    encoding = fitted()
    held = encoding.encode(TEXTS)
    monkeypatch.setattr(text_encoding, "BLOCK", 2)
    assert same(held, encoding.encode(TEXTS, sink=FolderSink(tmp_path)))
