"""A language model's layers for every token of a corpus, computed once, in an array mapped from a file.

A biLM that is not trained gives the same vectors in every epoch, and takes longer than the tagger over it.
"""

from __future__ import annotations

import hashlib
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import torch
import torch.nn.functional as F
from numpy.typing import NDArray
from torch import Tensor, nn

from gonie.features.batching import sorted_batches
from gonie.features.byte_spelling import begin_row, end_row
from gonie.features.corpus import Corpus
from gonie.nn.bilm.bilm import BiLM
from gonie.nn.inference import inferring
from gonie.system.filled_array import kept_array, nameless_array
from gonie.tasks.torch.parts import find_elmo

Note = Callable[[str], None]
BATCH = {"cpu": (8_000, 256)}
"""Tokens and sentences read at once; more on a GPU, which a step of few sentences leaves idle."""
LARGE = (64_000, 2_048)
AT_ONCE = 4096
"""Words whose spelling is read at once."""
SPOKEN = 5.0  # seconds between two words about how far it is
KIND = np.dtype("<f2")


def with_layers(model: nn.Module, corpus: Corpus, folder: str | None, note: Note | None = None) -> Corpus:
    """The corpus with the layers that the model's biLM gives; as it is where there is none, or it is trained.

    They are kept in ``folder`` for whoever asks for the same again, or nowhere if that is none.
    """
    elmo = find_elmo(model)
    if elmo is None or elmo.tuned or not corpus.tokens:
        return corpus
    bilm, shape = elmo.bilm, (corpus.tokens, elmo.bilm.layers, elmo.bilm.width)

    def fill(layers: NDArray[Any]) -> None:
        _fill(layers, bilm, corpus, note)

    if folder is None:
        return corpus.with_layers(nameless_array(shape, KIND, fill))
    path = Path(folder).expanduser() / f"{_digest(bilm, corpus)}.f2"
    return corpus.with_layers(kept_array(path, shape, KIND, fill))


def _fill(layers: NDArray[Any], bilm: BiLM, corpus: Corpus, note: Note | None) -> None:
    offsets, forms = corpus.arrays["offsets"], corpus.arrays["forms"]
    real = np.flatnonzero(corpus.lengths)  # a sentence may have no words
    spoke, done = time.monotonic(), 0
    with inferring(bilm) as device:
        words, marks = _spelled(bilm, corpus, device)
        tokens, sentences = BATCH.get(device.type, LARGE)
        for some in sorted_batches(corpus.lengths[real], tokens=tokens, sentences=sentences):
            rows = real[some]
            lengths = corpus.lengths[rows]
            mask = np.arange(lengths.max()) < lengths[:, None]  # (B, T)
            places = np.where(
                mask, offsets[rows][:, None] + np.arange(mask.shape[1]), 0
            )  # (B, T) in the corpus
            x = F.embedding(torch.from_numpy(forms[places].astype(np.int64)).to(device), words)  # (B, T, P)
            found = bilm.read(x, marks, torch.from_numpy(mask).to(device))  # (L, B, T, D)
            layers[places[mask]] = found.permute(1, 2, 0, 3).half().cpu().numpy()[mask]
            done += int(lengths.sum())
            if note and time.monotonic() - spoke > SPOKEN:
                note(f"vectors in context of {done:,} of {corpus.tokens:,} tokens")
                spoke = time.monotonic()


def _spelled(bilm: BiLM, corpus: Corpus, device: torch.device) -> tuple[Tensor, Tensor]:
    """The vector of every form (U, P), and those of the marks (2, P)."""
    table = corpus.arrays["form_bytes"].reshape(len(corpus.arrays["form_words"]), -1)  # (U, C)
    longest = table.shape[1]
    rows = np.concatenate([[begin_row(longest), end_row(longest)], table])
    chars = torch.from_numpy(rows).to(device).long()
    vectors = torch.cat([bilm.words(chars[i : i + AT_ONCE]) for i in range(0, len(chars), AT_ONCE)])
    return vectors[2:], vectors[:2]


def _digest(bilm: BiLM, corpus: Corpus) -> str:
    """Of everything that the layers depend on."""
    digest = hashlib.sha256(repr(bilm).encode())  # skip connections and bounds are no weights
    for name, tensor in sorted(bilm.state_dict().items()):
        digest.update(name.encode())
        digest.update(np.ascontiguousarray(tensor.cpu().numpy()).data)
    for name in ("offsets", "forms", "form_bytes"):
        digest.update(np.ascontiguousarray(corpus.arrays[name]).data)
    return digest.hexdigest()[:32]
