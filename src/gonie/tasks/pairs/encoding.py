"""Encode pairs of texts: a pair is a passage of two sentences, one for each text.

The code for texts can therefore encode, batch and score pairs. ``places`` (N, 2) of a batch are the rows of
the first and the second text of each pair.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from gonie.features.encoding import Encoding
from gonie.features.text_corpus import TextCorpus
from gonie.features.text_encoding import TextEncoding
from gonie.features.vocabulary import Vocabulary
from gonie.text.labelled_text import LabelledPair, LabelledText
from gonie.text.passages import Passage, Passages
from gonie.text.report import Report
from gonie.text.types import Sentence

MOST_TOKENS = 2000
"""Tokens of a text, at most: attention between two texts takes memory for every pair of their tokens."""
VALUE = "value"
"""The one label of a model of values."""


class ValueScale(NamedTuple):
    """The ends of the scale of values, such as 0 and 5."""

    low: float
    high: float

    def share(self, value: float) -> float:
        """Return the position of a value on the scale, from 0 at the low end to 1 at the high end."""
        return (value - self.low) / (self.high - self.low)


class PairEncoding:
    """Encode pairs as a ``TextCorpus`` of two sentences each.

    ``texts`` cuts a text into tokens and has the vocabularies and labels. With a ``scale``, the model gives
    values, and ``labels`` of a corpus are the gold values (N,), NaN if unknown.
    """

    def __init__(self, *, texts: TextEncoding, scale: ValueScale | None = None) -> None:
        self.texts = texts
        self.scale = scale

    @property
    def labels(self) -> Sequence[str]:
        """The labels of the model, ``VALUE`` alone for a model of values."""
        return self.texts.labels

    @property
    def words(self) -> Encoding:
        """The encoding of words."""
        return self.texts.words

    @property
    def vocabularies(self) -> dict[str, Vocabulary]:
        """The vocabularies that weights of a network belong to, by the names that its parts use."""
        return self.texts.vocabularies

    def encode(self, pairs: Sequence[LabelledPair]) -> TextCorpus:
        """Cut and encode pairs."""
        return self.with_answers(self.texts.encode_passages(map(self.passage, pairs)), pairs)

    def passage(self, pair: LabelledPair, report: Report | None = None) -> Passage:
        """Cut a pair into tokens. ``report`` receives what was cut off."""
        return cut_pair(self.texts.passages, pair, report or Report())

    def with_answers(self, corpus: TextCorpus, pairs: Iterable[LabelledPair]) -> TextCorpus:
        """Return the encoded pairs with gold values in the place of labels, for a model of values."""
        if self.scale is None:
            return corpus
        values = np.array([np.nan if pair.value is None else pair.value for pair in pairs], dtype=np.float32)
        return corpus.with_labels(values)

    def to_json(self) -> dict[str, Any]:
        """Return everything ``from_json`` needs, as plain values."""
        return {"texts": self.texts.to_json(), "scale": None if self.scale is None else list(self.scale)}

    @classmethod
    def from_json(cls, saved: Mapping[str, Any]) -> PairEncoding:
        """Restore the encoding from the result of ``to_json``."""
        scale = None if saved["scale"] is None else ValueScale(*map(float, saved["scale"]))
        return cls(texts=TextEncoding.from_json(saved["texts"]), scale=scale)


def cut_pair(passages: Passages, pair: LabelledPair, report: Report) -> Passage:
    """Cut both texts into tokens, as a passage of two sentences.

    The offsets of its tokens are those in ``pair.text``, where the second text follows the first on a new
    line.
    """
    sides = (LabelledText(text, (), (), pair.path, pair.line) for text in (pair.first, pair.second))
    first, second = (passages(side, report).sentences[0] for side in sides)
    moved = _moved(second, len(pair.first) + 1)
    sentences = tuple(replace(sentence, text=pair.text) for sentence in (first, moved))
    return Passage(sentences, pair.text, pair.labels, pair.path, pair.line)


def sentences_of(passages: Iterable[Passage]) -> Iterator[Sentence]:
    """Yield the sentences of passages."""
    return (sentence for passage in passages for sentence in passage.sentences)


def _moved(sentence: Sentence, by: int) -> Sentence:
    starts, ends = sentence.starts, sentence.ends
    return replace(sentence, starts=tuple(by + at for at in starts), ends=tuple(by + at for at in ends))
