"""A smoke test for a model that was just loaded: a batch with the highest ids of its encoding.

A graph whose tables are smaller than the vocabularies would fail only at a text with one of the last words.
With this batch it fails while loading.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from gonie.features import ragged
from gonie.features.byte_spelling import spell_bytes
from gonie.features.corpus import EXTERNAL, EXTERNAL_ROWS, Corpus
from gonie.features.encoding import Encoding
from gonie.features.piece_batches import PIECES
from gonie.features.pieces import PieceTokenizer
from gonie.features.text_corpus import TextCorpus
from gonie.features.text_encoding import TextEncoding
from gonie.features.vocabulary import RESERVED, Vocabulary
from gonie.runtime.scorer import Batch

TOKENS = 2
_SENTENCE = np.array([0])


def smoke_test_batch(encoding: Encoding) -> Batch:
    """Return a batch of one sentence with the last word, character and feature, and the unknown ones."""
    return _corpus(encoding).batch(_SENTENCE)


def smoke_test_texts(encoding: TextEncoding, *, sentences: int = 1) -> Batch:
    """Return a batch of one text: so many sentences as in ``smoke_test_batch``, and the last n-gram."""
    bag = None if encoding.bag is None else _last(encoding.bag.vocabulary, places=1)
    return TextCorpus(
        sentences=_corpus(encoding.words, sentences),
        offsets=np.array([0, sentences]),
        labels=np.array([-1]),
        bag=bag,
    ).batch(_SENTENCE)


def _corpus(encoding: Encoding, sentences: int = 1) -> Corpus:
    tokens = sentences * TOKENS
    arrays: dict[str, NDArray[np.generic]] = {
        "offsets": TOKENS * np.arange(sentences + 1),
        "forms": np.arange(tokens) % TOKENS,
        "tags": np.full(tokens, -1),
        "form_words": np.array([len(encoding.words) - 1, 1]),
        "form_offsets": np.array([0, 2, 3]),
        "form_chars": np.array([1, len(encoding.chars) - 1, 1]),
    }
    if encoding.longest:
        arrays["form_bytes"] = spell_bytes(["é", "a"], longest=encoding.longest).ravel()
    if encoding.pieces is not None:
        arrays |= _last_piece(encoding.pieces, sentences)
    if encoding.external:
        arrays[EXTERNAL] = np.ones(tokens * encoding.external, dtype=np.float32)
        arrays[EXTERNAL_ROWS] = np.arange(tokens)
    for group in encoding.groups:
        arrays[f"{group}.ids"], arrays[f"{group}.offsets"] = _last(encoding.features[group], places=tokens)
    return Corpus(arrays, encoding.groups)


def _last_piece(pieces: PieceTokenizer, sentences: int) -> dict[str, NDArray[np.generic]]:
    """Return the sub-words of sentences whose first token has the last one, and whose second has none."""
    found: dict[str, NDArray[np.generic]] = {
        PIECES: np.full(sentences, pieces.size - 1, dtype=np.int32),
        f"{PIECES}.offsets": np.arange(sentences + 1),
        f"{PIECES}.starts": np.tile([0, 1], sentences),
        f"{PIECES}.ends": np.ones(TOKENS * sentences, dtype=np.int32),
    }
    return found | {f"{PIECES}.{name}": values for name, values in pieces.frame.items()}


def _last(vocabulary: Vocabulary, *, places: int) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
    """Return the flat ids and offsets of ``places`` positions, the first with the last feature, if any."""
    known = len(vocabulary) > len(RESERVED)
    counts = np.array([int(known), *[0] * (places - 1)])
    return np.full(counts.sum(), len(vocabulary) - 1, dtype=np.int32), ragged.offsets(counts)
