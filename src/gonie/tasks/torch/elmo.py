"""ELMo in torch: a language model from a folder, as an embedding with one mix per place."""

from __future__ import annotations

import hashlib
import time
from collections.abc import Mapping
from copy import deepcopy
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
import torch.nn.functional as F
from numpy.typing import NDArray
from torch import Tensor

from gonie.errors import RecipeError
from gonie.features.batching import sorted_batches
from gonie.features.byte_spelling import begin_row, end_row
from gonie.features.corpus import Corpus
from gonie.nn.bilm.bilm import BiLM
from gonie.nn.embeddings.elmo import ElmoEmbedding
from gonie.nn.embeddings.scalar_mix import ScalarMix
from gonie.nn.inference import inferring
from gonie.tasks.contextual import PLACES, Note
from gonie.tasks.language_model.shape import BilmConfig
from gonie.tasks.language_model.torch.build import build_bilm
from gonie.tasks.language_model.torch.folder import (
    INDEX,
    SavedBilm,
    describe,
    load_bilm,
    read_index,
    read_shape,
)
from gonie.tasks.paths import shadowed_folder

if TYPE_CHECKING:
    from gonie.tasks.elmo import ElmoConfig
    from gonie.tasks.sections import CorpusConfig

BATCH = {"cpu": (8_000, 256)}
"""Maximum tokens and sentences per batch on a CPU. ``LARGE`` is for a GPU, which small batches leave idle."""
LARGE = (64_000, 2_048)
AT_ONCE = 4096
"""Words that are encoded from bytes at once."""
NOTE_SECONDS = 5.0  # seconds between two progress notes
SYNTHETIC = BilmConfig(byte_width=3, longest=8, filters=[(1, 2), (3, 3)], width=2, hidden=3)


@dataclass(frozen=True)
class LoadedElmo:
    """A language model in memory (a ``LoadedSource`` of ``gonie.tasks.contextual``)."""

    saved: SavedBilm

    @classmethod
    def load(cls, config: ElmoConfig, data: CorpusConfig, note: Note) -> LoadedElmo:
        """Load the language model that the recipe names.

        A model of another language raises an error. A model with another token unit gives a warning.
        """
        if shadow := shadowed_folder(config.bilm):
            note(f"model.elmo.bilm: {shadow}")
        saved = load_bilm(config.bilm)
        if saved.language != data.language:
            raise RecipeError(
                [
                    f"model.elmo.bilm: {config.bilm} is a language model for {saved.language}, but "
                    f"data.language is {data.language}; use another model, or set data.language"
                ]
            )
        if saved.unit != data.token_unit:
            note(
                f"{config.bilm}: the language model was trained on {saved.unit}s, but the text is tokenised "
                f"into {data.token_unit}s; to match, use --set data.unit={saved.unit}"
            )
        return cls(saved)

    @classmethod
    def restore(cls, run: Path) -> LoadedElmo:
        """Build a model of the shape in a run folder, with random weights."""
        index = read_index(run)
        shape = read_shape(run, index)
        return cls(SavedBilm(build_bilm(shape), shape, str(index["language"]), str(index["unit"])))

    @classmethod
    def synthetic(cls, data: CorpusConfig, seed: int) -> LoadedElmo:
        """Build a small language model with random weights from the seed."""
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(seed)
            bilm = build_bilm(SYNTHETIC)
        return cls(SavedBilm(bilm, SYNTHETIC, data.language, data.token_unit))

    @property
    def longest(self) -> int:
        """The number of bytes per word that its character network reads."""
        return self.saved.shape.longest

    def digest(self) -> bytes:
        """Return a digest of its shape and weights."""
        digest = hashlib.sha256(self.saved.shape.model_dump_json().encode())
        for tensor in self.saved.bilm.state_dict().values():
            digest.update(tensor.cpu().numpy().tobytes())
        return digest.digest()

    def files(self) -> Mapping[str, str]:
        """Return its description, which ``restore`` reads."""
        return {INDEX: describe(self.saved)}

    def build(self, config: ElmoConfig) -> ElmoEmbedding:
        """Build an embedding of its layers, with one mix per place."""
        places = PLACES[config.at]
        bilm = self.saved.bilm
        return ElmoEmbedding(
            bilm=deepcopy(bilm),
            mixes={place: ScalarMix(layers=bilm.layers, normalize=config.normalize) for place in places},
            tuned=config.tuned,
            rate=config.rate,
            dropout=config.dropout,
            penalty=config.l2,
        )


class BilmVectors:
    """The layers of a biLM for every token of a corpus (``CorpusVectors``).

    A frozen biLM gives the same vectors in every epoch and takes longer to run than the tagger, so its
    vectors are computed once.
    """

    dtype: np.dtype[Any] = np.dtype("<f2")
    suffix = "f2"
    instead_of: tuple[str, ...] = ("form_bytes",)

    def __init__(self, part: ElmoEmbedding, corpus: Corpus, note: Note) -> None:
        self.shape: tuple[int, ...] = (corpus.tokens, part.bilm.layers, part.bilm.width)
        self._bilm = part.bilm
        self._corpus = corpus
        self._note = note

    def digest(self) -> str:
        """Return a digest of everything that the layers depend on."""
        return _digest(self._bilm, self._corpus)

    def fill(self, array: NDArray[Any]) -> None:
        """Compute the layers. Shape: (M, L, 2P)."""
        _fill(array, self._bilm, self._corpus, self._note)


def _fill(layers: NDArray[Any], bilm: BiLM, corpus: Corpus, note: Note) -> None:
    offsets, forms = corpus.arrays["offsets"], corpus.arrays["forms"]
    real = np.flatnonzero(corpus.lengths)  # sentences with words
    noted, done = time.monotonic(), 0
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
            if time.monotonic() - noted > NOTE_SECONDS:
                note(f"contextual embeddings: {done:,} of {corpus.tokens:,} tokens")
                noted = time.monotonic()


def _spelled(bilm: BiLM, corpus: Corpus, device: torch.device) -> tuple[Tensor, Tensor]:
    """Return the vectors of all forms (U, P) and of the sentence marks (2, P)."""
    table = corpus.arrays["form_bytes"].reshape(len(corpus.arrays["form_words"]), -1)  # (U, C)
    longest = table.shape[1]
    rows = np.concatenate([[begin_row(longest), end_row(longest)], table])
    chars = torch.from_numpy(rows).to(device).long()
    vectors = torch.cat([bilm.words(chars[i : i + AT_ONCE]) for i in range(0, len(chars), AT_ONCE)])
    return vectors[2:], vectors[:2]


def _digest(bilm: BiLM, corpus: Corpus) -> str:
    """Return a digest of everything that the layers depend on."""
    digest = hashlib.sha256(repr(bilm).encode())  # includes skip connections and clipping bounds
    for name, tensor in sorted(bilm.state_dict().items()):
        digest.update(name.encode())
        digest.update(np.ascontiguousarray(tensor.cpu().numpy()).data)
    for name in ("offsets", "forms", "form_bytes"):
        digest.update(np.ascontiguousarray(corpus.arrays[name]).data)
    return digest.hexdigest()[:32]
