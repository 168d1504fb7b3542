"""A toy tagger without a network: tags depend only on the word, so every answer is known."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from gonie.features.encoding import Encoding, count
from gonie.runtime.decoder import Decoder
from gonie.tasks.tagging.tagger import Tagger
from gonie.text.normalize import Normalization
from gonie.text.schemes import PLAIN, Scheme, allowed
from gonie.text.types import Sentence

BIOES = Scheme(kind="BIOES")


class Blanks:
    """A tokenizer that splits sentences at full stops and tokens at spaces."""

    def __call__(self, text: str) -> list[Sentence]:
        sentences = []
        for part in re.finditer(r"[^.]*\.?", text):
            places = [m.span() for m in re.finditer(r"\S+", text[: part.end()][part.start() :])]
            places = [(a + part.start(), b + part.start()) for a, b in places]
            if places:
                starts, ends = zip(*places, strict=True)
                words = tuple(text[a:b] for a, b in places)
                sentences.append(Sentence(words=words, text=text, starts=starts, ends=ends))
        return sentences

    def to_json(self) -> dict[str, Any]:
        return {"language": "en", "unit": "word"}


def make_encoding(scheme: Scheme = BIOES) -> Encoding:
    """Fit an encoding of a few words, with labels by scheme."""
    tags = ("S-PER", "B-LOC", "E-LOC", "O") if scheme.has_spans else ("NOUN", "VERB", "X", "Y")
    known = Sentence(words=("George", "New", "York", "sleeps"), tags=tags)
    normalization = Normalization(lowercase=False, digits=False)
    counts = count([known], normalization=normalization, jamo=False, extractors=[])
    return Encoding.fit(
        counts,
        scheme=scheme,
        normalization=normalization,
        jamo=False,
        extractors=[],
        min_count=1,
        min_feature_count=1,
    )


class WordScorer:
    """Scores that depend only on the word: ``table`` (words, K). Records the shapes of its batches."""

    at_once = 1

    def __init__(self, encoding: Encoding, wanted: dict[str, str], strength: float = 6.0) -> None:
        self.table = np.zeros((len(encoding.words), len(encoding.labels)), dtype=np.float32)
        outside = encoding.label_ids.get("O", 0)
        self.table[:, outside] = strength / 2
        for word, tag in wanted.items():
            self.table[encoding.word_id(word), encoding.label_ids[tag]] = strength
        self.shapes: list[tuple[int, ...]] = []

    def scores(self, batch: Any) -> np.ndarray:
        self.shapes.append(batch["words"].shape)
        return self.table[batch["words"]]


WANTED = {"George": "S-PER", "New": "B-LOC", "York": "E-LOC"}


@pytest.fixture
def encoding() -> Encoding:
    return make_encoding()


@pytest.fixture
def plain_encoding() -> Encoding:
    return make_encoding(PLAIN)


@pytest.fixture
def tokenizer() -> Blanks:
    return Blanks()


@pytest.fixture
def word_scorer() -> Callable[..., WordScorer]:
    return WordScorer


@pytest.fixture
def make_predictor() -> Callable[..., Tagger]:
    def make(encoding: Encoding, scorer: Any) -> Tagger:
        size = len(encoding.labels)
        decoder = Decoder(
            transitions=np.zeros((size, size)),
            start=np.zeros(size),
            end=np.zeros(size),
            allowed=allowed(encoding.labels, encoding.scheme),
        )
        return Tagger(encoding=encoding, tokenizer=Blanks(), scorer=scorer, decoder=decoder)

    return make


@pytest.fixture
def tagger(encoding: Encoding, make_predictor: Any) -> Tagger:
    return make_predictor(encoding, WordScorer(encoding, WANTED))
