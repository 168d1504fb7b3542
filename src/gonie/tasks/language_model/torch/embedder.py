"""Contextual embeddings: all layers of a language model for all tokens of sentences."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

import numpy as np
import torch
import torch.nn.functional as F
from numpy.typing import NDArray
from torch import Tensor

from gonie.errors import GonieError
from gonie.features.batching import sorted_batches
from gonie.nn.inference import inferring
from gonie.runtime.groups import grouped
from gonie.tasks.language_model.torch.folder import SavedBilm
from gonie.tasks.language_model.torch.spelled_cache import SpelledCache
from gonie.text.plain_text import checked_words

Layers = NDArray[np.float32]
"""One sentence: (L + 1, T, 2P), the context-free word vectors first."""

BATCH_TOKENS, BATCH_SENTENCES = 8192, 256


def pick_device(wanted: str) -> torch.device:
    """Return the device for ``cpu``, ``cuda`` or ``auto`` (a GPU if there is one)."""
    there = torch.cuda.is_available()
    if wanted == "cuda" and not there:
        raise GonieError("PyTorch finds no CUDA GPU. Use --device cpu")
    return torch.device("cuda" if there and wanted != "cpu" else "cpu")


class Embedder:
    """Computes the contextual embeddings of sentences.

    The vectors of a sentence depend on that sentence alone, not on its batch or on earlier sentences.
    Sentences may be of any length. ``width`` is 2P, ``depth`` L + 1. Word vectors are cached, so after
    further training of the model a new embedder is needed.
    """

    def __init__(self, saved: SavedBilm, *, device: torch.device | str = "cpu") -> None:
        self._bilm = saved.bilm.to(device)
        self._cache = SpelledCache(saved.bilm.words, longest=saved.shape.longest)
        self.width = saved.bilm.width
        self.depth = saved.bilm.layers

    def layers(self, sentences: Sequence[Sequence[str]]) -> list[Layers]:
        """Return all layers of each sentence, in the given order."""
        sentences = [checked_words(words, fix="Cut it into words first.") for words in sentences]
        found = [np.empty((self.depth, 0, self.width), np.float32)] * len(sentences)
        lengths = np.array([len(words) for words in sentences], dtype=np.int64)
        real = np.flatnonzero(lengths)
        with inferring(self._bilm) as device:
            marks = self._cache.marks()  # (2, P)
            for some in sorted_batches(lengths[real], tokens=BATCH_TOKENS, sentences=BATCH_SENTENCES):
                rows = real[some]
                x, mask = self._batch([sentences[row] for row in rows], device)
                vectors = self._bilm.read(x, marks, mask).cpu().numpy()  # (L + 1, B, T, 2P)
                for row, place in enumerate(rows):
                    found[place] = np.ascontiguousarray(vectors[:, row, : lengths[place]])
        return found

    def pipe(self, sentences: Iterable[Sequence[str]]) -> Iterator[Layers]:
        """Yield the layers of a stream of sentences in order, reading ahead only as far as batching needs."""
        for group in grouped(sentences, size=lambda words: len(words) + 1):
            yield from self.layers(group)

    def _batch(self, sentences: Sequence[Sequence[str]], device: torch.device) -> tuple[Tensor, Tensor]:
        """Return the context-free word vectors (B, T, P) and the mask of real tokens (B, T)."""
        lengths = np.array([len(words) for words in sentences])
        mask = np.arange(lengths.max()) < lengths[:, None]  # (B, T)
        places = np.zeros(mask.shape, dtype=np.int64)
        places[mask] = self._cache.places([word for words in sentences for word in words])
        x = F.embedding(torch.from_numpy(places).to(device), self._cache.table)
        return x, torch.from_numpy(mask).to(device)
