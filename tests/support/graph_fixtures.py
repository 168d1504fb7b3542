"""Fixtures for export tests: random ragged batches, as NumPy arrays and as tensors."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest
import torch

from gonie.features.byte_spelling import begin_row, end_row, spell_bytes

Batch = dict[str, np.ndarray]

WORDS, CHARS, FEATURES, LONGEST = 12, 9, 7, 9


def random_batch(lengths: Sequence[int], seed: int = 0, most: int = 3) -> Batch:
    """Make a batch like ``gonie.features.corpus.collate``; ``most`` bounds the features of a position."""
    random = np.random.default_rng(seed)
    B, T = len(lengths), max(lengths)
    sizes = np.array(lengths, dtype=np.int64)
    mask = np.arange(T) < sizes[:, None]
    U = int(random.integers(1, mask.sum() + 1))
    char_lengths = random.integers(1, 7, U)
    chars = random.integers(1, CHARS, (U, char_lengths.max()))
    batch: Batch = {
        "lengths": sizes,
        "mask": mask,
        "words": np.where(mask, random.integers(1, WORDS, (B, T)), 0),
        "forms": np.where(mask, random.integers(0, U, (B, T)), 0),
        "chars": np.where(np.arange(chars.shape[1]) < char_lengths[:, None], chars, 0),
        "char_lengths": char_lengths,
        "bytes": random_bytes(U, random),
    }
    for group in ("spelling", "context"):
        counts = np.where(mask, random.integers(0, most + 1, (B, T)), 0).ravel()
        batch[f"{group}.offsets"] = np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)
        batch[f"{group}.ids"] = random.integers(0, FEATURES, counts.sum())
    return batch


def random_bytes(number: int, random: np.random.Generator) -> np.ndarray:
    """Return the marks and ``number`` words of random bytes, some longer than the model's limit."""
    words = [random.bytes(int(length)) for length in random.integers(1, LONGEST + 3, number)]
    marks = [begin_row(LONGEST), end_row(LONGEST)]
    return np.concatenate([marks, spell_bytes(words, longest=LONGEST)]).astype(np.int64)


def one_row(batch: Batch, row: int) -> Batch:
    """Return a batch of one sentence, without the padding and forms of the others."""
    n, T = int(batch["lengths"][row]), batch["mask"].shape[1]
    forms, local = np.unique(batch["forms"][row, :n], return_inverse=True)
    widest = batch["char_lengths"][forms].max()
    alone: Batch = {
        "lengths": batch["lengths"][row : row + 1],
        "mask": np.ones((1, n), dtype=bool),
        "words": batch["words"][row : row + 1, :n],
        "forms": local[None].astype(np.int64),
        "chars": batch["chars"][forms, :widest],
        "char_lengths": batch["char_lengths"][forms],
        "bytes": batch["bytes"][[0, 1, *(forms + 2)]],
    }
    for group in ("spelling", "context"):
        offsets = batch[f"{group}.offsets"][row * T : row * T + n + 1]
        alone[f"{group}.ids"] = batch[f"{group}.ids"][offsets[0] : offsets[-1]]
        alone[f"{group}.offsets"] = offsets - offsets[0]
    return alone


def random_texts(texts: Sequence[Sequence[int]], seed: int = 0, most: int = 3) -> Batch:
    """Make a batch of texts like ``collate_texts``; a text is given by the lengths of its sentences."""
    batch = random_batch([length for text in texts for length in text], seed, most)
    heights = np.array([len(text) for text in texts])
    batch["places_mask"] = np.arange(heights.max()) < heights[:, None]
    batch["places"] = np.zeros(batch["places_mask"].shape, dtype=np.int64)
    batch["places"][batch["places_mask"]] = np.arange(heights.sum())
    random = np.random.default_rng([seed, 1])
    counts = random.integers(0, 3 * most + 1, len(texts))
    batch["bag.offsets"] = np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)
    batch["bag.ids"] = random.integers(0, FEATURES, counts.sum())
    return batch


def one_text(batch: Batch, row: int) -> Batch:
    """Return a batch of one text, without characters and without the padding of the others."""
    own = batch["places"][row][batch["places_mask"][row]]
    parts = [one_row(batch, sentence) for sentence in own]
    lengths = np.concatenate([part["lengths"] for part in parts])
    start, end = batch["bag.offsets"][row : row + 2]
    words = np.zeros((len(own), lengths.max()), dtype=np.int64)
    for place, part in enumerate(parts):
        words[place, : lengths[place]] = part["words"][0]
    return {
        "lengths": lengths,
        "mask": np.arange(lengths.max()) < lengths[:, None],
        "words": words,
        "places": np.arange(len(own))[None],
        "places_mask": np.ones((1, len(own)), dtype=bool),
        "bag.ids": batch["bag.ids"][start:end],
        "bag.offsets": np.array([0, end - start]),
    }


def tensors(batch: Batch) -> dict[str, torch.Tensor]:
    return {name: torch.from_numpy(array) for name, array in batch.items()}


def random_elmo(
    *, layers: int = 2, skip: bool = True, clip: float = 0.0, mixes: Sequence[bool] = (False,)
) -> Any:
    """Build a contextual embedding of width 12 per mix; ``mixes`` says which ones normalise."""
    from gonie.nn.embeddings.elmo import ElmoEmbedding
    from gonie.nn.embeddings.scalar_mix import ScalarMix
    from gonie.tasks.language_model.shape import BilmConfig
    from gonie.tasks.language_model.torch.build import build_bilm

    shape = BilmConfig(
        byte_width=4,
        longest=LONGEST,
        filters=[(1, 3), (2, 4), (5, 6)],
        highways=2,
        width=6,
        hidden=10,
        layers=layers,
        skip=skip,
        dropout=0.5,
        cell_clip=clip,
        state_clip=clip,
    )
    return ElmoEmbedding(
        bilm=build_bilm(shape),
        mixes={
            place: ScalarMix(layers=1 + layers, normalize=normalize)
            for place, normalize in zip(("input", "output"), mixes, strict=False)
        },
        tuned=False,
        dropout=0.5,
        penalty=0.0,
    )


@pytest.fixture
def elmo() -> Callable[..., Any]:
    return random_elmo


@pytest.fixture
def batches() -> Callable[..., Any]:
    return random_batch


@pytest.fixture
def alone() -> Callable[[Batch, int], Batch]:
    return one_row


@pytest.fixture
def as_tensors() -> Callable[[Batch], dict[str, torch.Tensor]]:
    return tensors


@pytest.fixture
def texts() -> Callable[..., Any]:
    return random_texts


@pytest.fixture
def text_alone() -> Callable[[Batch, int], Batch]:
    return one_text
