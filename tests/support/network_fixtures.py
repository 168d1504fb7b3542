"""Fixtures for tests of networks: a small encoding with every kind of input, and batches."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import pytest
import torch
from torch import Tensor

from gonie.features.context import Context
from gonie.features.corpus import collate
from gonie.features.encoding import Encoding, count
from gonie.features.spelling import Spelling
from gonie.text.normalize import Normalization
from gonie.text.schemes import Scheme
from gonie.text.types import Sentence

NORMAL = Normalization(lowercase=True, digits=True)
SENTENCES = (
    Sentence(("Anna", "Kim", "lives", "in", "Seoul", "."), ("B-PER", "E-PER", "O", "O", "S-LOC", "O")),
    Sentence(("Seoul", "is", "far"), ("S-LOC", "O", "O")),
    Sentence(("Anna", "is", "in", "Oslo"), ("S-PER", "O", "O", "S-LOC")),
    Sentence(("far",), ("O",)),
)


@pytest.fixture(autouse=True)
def seeded() -> None:
    torch.manual_seed(7)


def fit(extra_words: Sequence[str] = ()) -> Encoding:
    extractors = [Spelling(), Context(window=1)]
    return Encoding.fit(
        count(SENTENCES, normalization=NORMAL, jamo=False, extractors=extractors),
        scheme=Scheme(kind="BIOES"),
        normalization=NORMAL,
        jamo=False,
        extractors=extractors,
        min_count=1,
        min_feature_count=1,
        extra_words=extra_words,
    )


@pytest.fixture
def fitted() -> Callable[..., Encoding]:
    """Return a function that fits an encoding, optionally with extra words."""
    return fit


@pytest.fixture
def encoding() -> Encoding:
    return fit()


@pytest.fixture
def sentences() -> list[Sentence]:
    return list(SENTENCES)


@pytest.fixture
def batch_of() -> Callable[..., dict[str, np.ndarray]]:
    """Return a function that makes a NumPy batch of some or all sentences."""

    def make(encoding: Encoding, rows: Sequence[int] | None = None) -> dict[str, np.ndarray]:
        corpus = encoding.encode(SENTENCES)
        return collate(corpus, np.array(range(len(SENTENCES)) if rows is None else rows))

    return make


@pytest.fixture
def tensors_of(batch_of: Callable[..., dict[str, np.ndarray]]) -> Callable[..., dict[str, Tensor]]:
    """Return a function that makes the same batch as tensors."""

    def make(encoding: Encoding, rows: Sequence[int] | None = None) -> dict[str, Tensor]:
        return {name: torch.from_numpy(array) for name, array in batch_of(encoding, rows).items()}

    return make
