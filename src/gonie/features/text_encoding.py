"""Encoding of texts as ids, shared by the training and the use of a classifier.

Besides the ``Encoding`` of words it holds how a text is split into sentences, the labels, and the n-grams. It
is saved in the bundle as JSON.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gonie.errors import InputError
from gonie.features import ragged
from gonie.features.corpus import Corpus, Sink
from gonie.features.encoding import Encoding
from gonie.features.ngrams import BLOCK, NGramBag
from gonie.features.text_corpus import TextCorpus
from gonie.features.vocabulary import Vocabulary
from gonie.text.labelled_text import LabelledText
from gonie.text.passages import Passage, Passages
from gonie.text.report import Report
from gonie.text.types import Sentence

UNSEEN_LABEL = "texts with a label that is not in the training data"


class TextEncoding:
    """Encode texts as a ``TextCorpus``.

    ``multi_label`` means multi-label: a text may have any number of labels.
    """

    def __init__(
        self,
        *,
        passages: Passages,
        words: Encoding,
        labels: Sequence[str],
        multi_label: bool,
        bag: NGramBag | None,
    ) -> None:
        self.passages = passages
        self.words = words
        self.labels = tuple(labels)
        self.multi_label = multi_label
        self.bag = bag
        self.label_ids = {label: i for i, label in enumerate(self.labels)}

    def encode(
        self, texts: Iterable[LabelledText], *, sink: Sink | None = None, report: Report | None = None
    ) -> TextCorpus:
        """Encode a stream of texts. ``sink`` receives the arrays of their sentences (in memory by default).

        ``report`` receives what was cut, and the number of texts with a label not seen in training. Such a
        label becomes -1, or is missing from the table.
        """
        report = report or Report()
        return self.encode_passages((self.passages(text, report) for text in texts), sink=sink, report=report)

    def encode_passages(
        self, passages: Iterable[Passage], *, sink: Sink | None = None, report: Report | None = None
    ) -> TextCorpus:
        """Encode texts that are already split, as ``encode`` does."""
        collector = _TextCollector(self, report or Report())
        sentences = self.words.encode(collector.sentences(passages), sink)
        return collector.corpus(sentences)

    @property
    def vocabularies(self) -> dict[str, Vocabulary]:
        """The vocabularies that weights of a network belong to, by the names that its parts use."""
        bag = {} if self.bag is None else {self.bag.ngrams.name: self.bag.vocabulary}
        return {**self.words.vocabularies, **bag}

    def to_json(self) -> dict[str, Any]:
        """Return everything ``from_json`` needs, as plain values."""
        return {
            "passages": self.passages.to_json(),
            "words": self.words.to_json(),
            "labels": list(self.labels),
            "several": self.multi_label,
            "bag": None if self.bag is None else self.bag.to_json(),
        }

    @classmethod
    def from_json(cls, saved: Mapping[str, Any]) -> TextEncoding:
        """Restore the encoding from the result of ``to_json``."""
        return cls(
            passages=Passages.from_json(saved["passages"]),
            words=Encoding.from_json(saved["words"]),
            labels=saved["labels"],
            multi_label=bool(saved["several"]),
            bag=None if saved["bag"] is None else NGramBag.from_json(saved["bag"]),
        )


class _TextCollector:
    """Collect labels, sizes and n-grams of each text while its sentences are streamed."""

    def __init__(self, encoding: TextEncoding, report: Report) -> None:
        self._encoding = encoding
        self._report = report
        self._heights: list[int] = []
        self._labels: list[list[int]] = []
        self._running: list[str] = []  # texts whose n-grams are not yet encoded
        self._bags: list[tuple[NDArray[np.int32], NDArray[np.int64]]] = []

    def sentences(self, passages: Iterable[Passage]) -> Iterator[Sentence]:
        """Yield the sentences of all texts."""
        for passage in passages:
            self._labels.append(self._label_ids(passage))
            if self._encoding.bag is not None:
                self._running.append(passage.running)
                if len(self._running) == BLOCK:
                    self._find()
            self._heights.append(len(passage.sentences))
            yield from passage.sentences

    def corpus(self, sentences: Corpus) -> TextCorpus:
        """Return the texts, once all their sentences are encoded."""
        return TextCorpus(
            sentences=sentences,
            offsets=ragged.offsets(np.array(self._heights, dtype=np.int64)),
            labels=self._table() if self._encoding.multi_label else self._column(),
            bag=self._bag(),
        )

    def _label_ids(self, text: Passage) -> list[int]:
        if len(text.labels) > 1 and not self._encoding.multi_label:
            raise InputError(
                f"expected one label per text, got {', '.join(map(repr, text.labels[:5]))}",
                path=text.path or None,
                line=text.line or None,
                fix="Keep one label, or train on several with "
                "--label-separator CHARACTER (in a recipe data.label_separator); for lists, any will do",
            )
        known = [
            self._encoding.label_ids[label] for label in text.labels if label in self._encoding.label_ids
        ]
        if len(known) < len(text.labels):
            self._report.noticed[UNSEEN_LABEL] += 1
        return known

    def _column(self) -> NDArray[np.int64]:
        return np.array([known[0] if known else -1 for known in self._labels], dtype=np.int64)  # (N,)

    def _table(self) -> NDArray[np.float32]:
        table = np.zeros((len(self._labels), len(self._encoding.labels)), dtype=np.float32)  # (N, K)
        for row, known in zip(table, self._labels, strict=True):
            row[known] = 1
        return table

    def _find(self) -> None:
        assert self._encoding.bag is not None
        ids, offsets = self._encoding.bag.encode(self._running)
        self._bags.append((ids, np.diff(offsets)))
        self._running = []

    def _bag(self) -> tuple[NDArray[np.int32], NDArray[np.int64]] | None:
        if self._encoding.bag is None:
            return None
        self._find()
        ids, counts = zip(*self._bags, strict=True)
        return np.concatenate(ids), ragged.offsets(np.concatenate(counts))
