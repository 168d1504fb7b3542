"""Fixtures for tests of explanations: small classifiers with the interface of the runtime."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import pytest
import torch
from numpy.typing import NDArray
from torch import nn

from gonie.features.encoding import Encoding, count
from gonie.features.ngrams import NGramBag, NGrams
from gonie.features.text_encoding import TextEncoding
from gonie.nn import (
    LSTM,
    AdditiveAttention,
    Bidirectional,
    MultiLabelHead,
    TextScores,
    TextSigmoidHead,
    TextSoftmaxHead,
    WordEmbedding,
)
from gonie.nn.protocols import TextHead
from gonie.runtime.decoder import Decoder
from gonie.tasks.classification.classifier import TextClassifier
from gonie.tasks.classification.reading import Reading
from gonie.tasks.classification.torch.network import LABEL, ClassifyingNetwork, Level
from gonie.tasks.tagging.tagger import Tagger
from gonie.tasks.torch.scorer import TorchTextScorer
from gonie.text.labelled_text import LabelledText
from gonie.text.normalize import Normalization
from gonie.text.passages import By, Passage, Passages
from gonie.text.schemes import PLAIN
from gonie.text.tokenizers import EnglishTokenizer
from gonie.text.types import Sentence

TEXTS = (
    "A good film. I like it, and she does!",
    "bad",
    "It is not good. No. Never again, I say.",
    "The plot is thin but the players are fine.",
)


def text_encoding(
    *, by: By = "text", bag: bool = False, labels: int = 3, multi_label: bool = False
) -> TextEncoding:
    passages = Passages(tokenizer=EnglishTokenizer(), by=by)
    normalization = Normalization(lowercase=True, digits=True)
    counts = count(
        (sentence for text in TEXTS for sentence in passages(LabelledText(text)).sentences),
        normalization=normalization,
        jamo=False,
        extractors=(),
    )
    return TextEncoding(
        passages=passages,
        words=Encoding.fit(
            counts,
            scheme=PLAIN,
            normalization=normalization,
            jamo=False,
            extractors=(),
            min_count=1,
            min_feature_count=1,
        ),
        labels=tuple("abcdef"[:labels]),
        multi_label=multi_label,
        bag=NGramBag.fit(TEXTS, ngrams=NGrams(chars=(1, 3), words=(1, 2))) if bag else None,
    )


def classifier(encoding: TextEncoding, *, upper: bool = False, sigmoid: bool = False) -> ClassifyingNetwork:
    """Build a classifier with random weights, including those of n-grams."""
    torch.manual_seed(3)

    def level(width: int) -> Level:
        encoder = Bidirectional(ahead=LSTM(width=width, hidden=4), back=LSTM(width=width, hidden=4))
        return Level(encoder=encoder, pooling=AdditiveAttention(width=8, hidden=4))

    direct = {"bag": len(encoding.bag.vocabulary)} if encoding.bag is not None else {}
    scores = TextScores(width=8, num_labels=1 if sigmoid else len(encoding.labels), direct=direct)
    for part in scores.direct.values():
        nn.init.normal_(part.weight)
    head: TextHead
    if sigmoid:
        head = TextSigmoidHead(scores=scores)
    else:
        head = MultiLabelHead(scores=scores) if encoding.multi_label else TextSoftmaxHead(scores=scores)
    return ClassifyingNetwork(
        embedding=WordEmbedding(size=len(encoding.words.words), width=5),
        words=level(5),
        sentences=level(8) if upper else None,
        heads={LABEL: head},
        word_dropout=nn.Dropout(0.5),
        dropout=nn.Dropout(0.5),
    )


class TorchReader(TextClassifier):
    """The runtime's classifier with its torch model; ``most`` is the largest number of tokens per call."""

    def __init__(self, model: ClassifyingNetwork, encoding: TextEncoding, temperature: float) -> None:
        super().__init__(encoding=encoding, scorer=TorchTextScorer(model), temperature=temperature)
        self.model = model
        self.most = 0

    def read(self, passages: Sequence[Passage]) -> list[Reading]:
        self.most = max(self.most, sum(len(sentence) for p in passages for sentence in p.sentences))
        return super().read(passages)


KINDS: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "flat": ({}, {}),
    "hierarchical": ({"by": "sentence"}, {"upper": True}),
    "with n-grams": ({"bag": True}, {}),
    "hierarchical, n-grams": ({"by": "sentence", "bag": True}, {"upper": True}),
    "sigmoid, n-grams": ({"bag": True, "labels": 2}, {"sigmoid": True}),
    "several labels": ({"multi_label": True, "bag": True}, {}),
}


@pytest.fixture
def make_reader() -> Callable[..., TorchReader]:
    """Return a function that makes a reader from its name in ``KINDS``."""

    def make(kind: str = "flat", temperature: float = 1.0) -> TorchReader:
        data, model = KINDS[kind]
        encoding = text_encoding(**data)
        return TorchReader(classifier(encoding, **model), encoding, temperature)

    return make


@pytest.fixture(params=KINDS)
def reader(request: pytest.FixtureRequest, make_reader: Callable[..., TorchReader]) -> TorchReader:
    """Return a calibrated reader of each kind."""
    return make_reader(request.param, temperature=1.7)


@pytest.fixture
def short_texts() -> tuple[str, ...]:
    return TEXTS


class WordTags:
    """Scores that depend only on the word: Gonie is a noun, sleeps is a verb, other words are either."""

    at_once = 1

    def __init__(self, encoding: Encoding) -> None:
        self._table = np.zeros((len(encoding.words), len(encoding.labels)), dtype=np.float32)
        for word, tag in (("Gonie", "NOUN"), ("sleeps", "VERB")):
            self._table[encoding.word_id(word), encoding.label_ids[tag]] = 4.0

    def scores(self, batch: Mapping[str, NDArray[Any]]) -> NDArray[np.float32]:
        return self._table[batch["words"]]


@pytest.fixture
def plain_tagger() -> Tagger:
    """Return a tagger with plain tags and known answers."""
    normalization = Normalization(lowercase=False, digits=False)
    sentence = Sentence(("Gonie", "sleeps"), ("NOUN", "VERB"))
    encoding = Encoding.fit(
        count([sentence], normalization=normalization, jamo=False, extractors=()),
        scheme=PLAIN,
        normalization=normalization,
        jamo=False,
        extractors=(),
        min_count=1,
        min_feature_count=1,
    )
    decoder = Decoder(transitions=np.zeros((2, 2)), start=np.zeros(2), end=np.zeros(2))
    return Tagger(encoding=encoding, tokenizer=EnglishTokenizer(), scorer=WordTags(encoding), decoder=decoder)
