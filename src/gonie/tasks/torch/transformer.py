"""A transformer in torch: an encoder from a folder, as an embedding with one mix of its layers per place."""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import nn

from gonie.errors import BundleError, RecipeError
from gonie.export.transformer import ENCODERS, has_graph
from gonie.features.batching import sorted_batches
from gonie.features.corpus import Corpus
from gonie.features.piece_batches import ARRAYS
from gonie.features.pieces import PieceTokenizer
from gonie.nn.embeddings.scalar_mix import ScalarMix
from gonie.nn.embeddings.transformer import TransformerEmbedding
from gonie.nn.inference import inferring, to_tensors
from gonie.tasks.contextual import PLACES, Note
from gonie.tasks.paths import locate
from gonie.tasks.run_files import TRANSFORMER
from gonie.tasks.torch.encoder_folder import build_encoder, read_config, read_encoder, read_pieces

if TYPE_CHECKING:
    from gonie.tasks.sections import CorpusConfig
    from gonie.tasks.transformer import TransformerConfig

BATCH = {"cpu": (2_000, 64)}
"""Maximum tokens and sentences per batch on a CPU. ``LARGE`` is for a GPU."""
LARGE = (32_000, 1_024)
NOTE_SECONDS = 5.0  # seconds between two progress notes
LETTERS = "abcdefghijklmnopqrstuvwxyz"


@dataclass(frozen=True)
class LoadedTransformer:
    """An encoder in memory (a ``LoadedSource`` of ``gonie.tasks.contextual``)."""

    encoder: nn.Module
    layers: tuple[int, ...]
    """The layers that are mixed, counted from 0, the input."""
    pieces: PieceTokenizer | None = None
    """Its sub-words; None in a network that is restored, whose encoding has them."""

    longest = 0

    @classmethod
    def load(cls, config: TransformerConfig, data: CorpusConfig, note: Note) -> LoadedTransformer:
        """Load the encoder that the recipe names, with the layers that it uses.

        ``note`` receives a warning if the trained model cannot be exported.
        """
        folder = locate(config.path)
        described = read_config(folder)
        layers = _numbered(config.layers, described.num_hidden_layers)
        _check_tuning(config, depth=max(layers), note=note)
        encoder = read_encoder(folder, described, depth=max(layers))
        pieces = read_pieces(
            folder, encoder, joined=_joined(data), fold=data.fold_text, pooling=config.pooling
        )
        if not has_graph(encoder):
            kind, activation = type(encoder).__name__, getattr(described, "hidden_act", None)
            note(
                f"warning: there is no ONNX graph for {kind} with the activation {activation}, so training "
                "will end with an error instead of a bundle. To use the model, choose one of "
                f"{', '.join(ENCODERS)}"
            )
        return cls(encoder, layers, pieces)

    @classmethod
    def restore(cls, run: Path) -> LoadedTransformer:
        """Build an encoder of the shape in a run folder, with random weights."""
        try:
            saved = json.loads((run / TRANSFORMER).read_text("utf-8"))
            return cls(build_encoder(saved["config"]), tuple(saved["layers"]))
        except (OSError, ValueError, LookupError, TypeError) as error:
            raise BundleError(f"{run / TRANSFORMER}: cannot read the transformer: {error}") from error

    @classmethod
    def synthetic(cls, data: CorpusConfig, seed: int) -> LoadedTransformer:
        """Build a small encoder with random weights from the seed, whose sub-words are letters."""
        marks = ["[PAD]", "[UNK]", "[CLS]", "[SEP]"]
        vocabulary = [*marks, *LETTERS, *(f"##{letter}" for letter in LETTERS)]
        config = {
            "model_type": "bert",
            "vocab_size": len(vocabulary),
            "hidden_size": 4,
            "num_hidden_layers": 2,
            "num_attention_heads": 2,
            "intermediate_size": 5,
            "max_position_embeddings": 20,
        }
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(seed)
            encoder = build_encoder(config)
        special = [{"id": at, "content": mark, "special": True, **_PLAIN} for at, mark in enumerate(marks)]
        tokenizer = {
            "added_tokens": special,
            "normalizer": {"type": "Lowercase"},
            "pre_tokenizer": {"type": "BertPreTokenizer"},
            "post_processor": {"type": "BertProcessing", "sep": ["[SEP]", 3], "cls": ["[CLS]", 2]},
            "model": {
                "type": "WordPiece",
                "unk_token": "[UNK]",
                "continuing_subword_prefix": "##",
                "max_input_chars_per_word": 100,
                "vocab": {piece: at for at, piece in enumerate(vocabulary)},
            },
        }
        pieces = PieceTokenizer(
            json.dumps(tokenizer), joined=_joined(data), fold=data.fold_text, pooling="mean", limit=20
        )
        return cls(encoder, (0, 1, 2), pieces)

    def digest(self) -> bytes:
        """Return a digest of its shape, its weights and its sub-words."""
        digest = hashlib.sha256(self.files()[TRANSFORMER].encode())
        digest.update(_digest_weights(self.encoder))
        digest.update(json.dumps(self.pieces.to_json() if self.pieces else {}).encode())
        return digest.digest()

    def files(self) -> Mapping[str, str]:
        """Return its description, which ``restore`` reads."""
        config = self.encoder.config.to_dict()  # type: ignore[operator, union-attr]
        config = {name: value for name, value in config.items() if name not in _UNSAVED}
        return {TRANSFORMER: json.dumps({"layers": self.layers, "config": config}, default=str)}

    def build(self, config: TransformerConfig) -> TransformerEmbedding:
        """Build an embedding of its layers, with one mix per place."""
        return TransformerEmbedding(
            encoder=deepcopy(self.encoder),
            width=int(self.encoder.config.hidden_size),  # type: ignore[union-attr, arg-type]
            layers=self.layers,
            mixes={place: ScalarMix(layers=len(self.layers)) for place in PLACES[config.at]},
            tuned=config.tuned,
            dropout=config.dropout,
            penalty=config.l2,
            rate=config.rate,
            layer_rate=config.layer_rate,
            fixed=config.fixed,
        )


class TransformerVectors:
    """The layers of a transformer for every token of a corpus (``CorpusVectors``), computed once."""

    dtype: np.dtype[Any] = np.dtype("<f2")
    suffix = "f2"
    instead_of: tuple[str, ...] = ARRAYS

    def __init__(self, part: TransformerEmbedding, corpus: Corpus, note: Note) -> None:
        self.shape: tuple[int, ...] = (corpus.tokens, len(part.chosen), part.place_width)
        self._part = part
        self._corpus = corpus
        self._note = note

    def digest(self) -> str:
        """Return a digest of everything that the layers depend on."""
        digest = hashlib.sha256(_digest_weights(self._part.encoder))
        digest.update(repr((self._part.encoder, self._part.chosen)).encode())
        for name in ("offsets", *ARRAYS):
            digest.update(np.ascontiguousarray(self._corpus.arrays[name]).data)
        return digest.hexdigest()[:32]

    def fill(self, array: NDArray[Any]) -> None:
        """Compute the layers. Shape: (M, K, H)."""
        corpus = self._corpus
        offsets = corpus.arrays["offsets"]
        real = np.flatnonzero(corpus.lengths)  # sentences with words
        noted, done = time.monotonic(), 0
        with inferring(self._part) as device:
            tokens, sentences = BATCH.get(device.type, LARGE)
            for some in sorted_batches(corpus.lengths[real], tokens=tokens, sentences=sentences):
                rows = real[some]
                batch = corpus.batch(rows)
                places = (offsets[rows][:, None] + np.arange(batch["mask"].shape[1]))[batch["mask"]]
                layers = self._part.layers(to_tensors(batch, device))  # (K, B, T, H)
                array[places] = layers.permute(1, 2, 0, 3).half().cpu().numpy()[batch["mask"]]
                done += len(places)
                if time.monotonic() - noted > NOTE_SECONDS:
                    self._note(f"transformer: {done:,} of {corpus.tokens:,} tokens")
                    noted = time.monotonic()


_PLAIN = {"single_word": False, "lstrip": False, "rstrip": False, "normalized": False}
_UNSAVED = ("_name_or_path", "transformers_version", "architectures", "dtype", "torch_dtype")
"""Entries of a configuration that do not change the encoder."""


def _joined(data: CorpusConfig) -> bool:
    """Return whether tokens are parts of words, which are divided into sub-words together."""
    return data.token_unit not in ("word", "eojeol")


def _numbered(layers: Sequence[int], depth: int) -> tuple[int, ...]:
    """Return the numbers of layers counted from 0, the input, in ascending order."""
    found = sorted({layer if layer >= 0 else depth + 1 + layer for layer in layers})
    if wrong := [layer for layer in layers if not -depth - 1 <= layer <= depth]:
        raise RecipeError(
            [f"model.transformer.layers: no layer {wrong[0]}; the transformer has layers 0 to {depth}"]
        )
    if found[-1] == 0:
        raise RecipeError(["model.transformer.layers: only layer 0, the input; use at least one other layer"])
    return tuple(found)


def _check_tuning(config: TransformerConfig, *, depth: int, note: Note) -> None:
    """Refuse settings that leave nothing to tune, and name those that have no effect."""
    if config.tuned and config.fixed > depth:
        raise RecipeError(
            [
                f"model.transformer.fixed: {config.fixed} leaves nothing to tune; the highest layer in use "
                f"is {depth}, so use at most {depth}"
            ]
        )
    defaults = type(config).model_fields
    idle = ["cache"] if config.tuned else ["rate", "layer_rate", "fixed"]
    if idle := [name for name in idle if getattr(config, name) != defaults[name].default]:
        names = ", ".join(f"model.transformer.{name}" for name in idle)
        if config.tuned:
            note(f"warning: no effect on a tuned transformer: {names}")
        else:
            note(
                f"warning: no effect on a frozen transformer: {names}. To tune it: --set "
                "model.transformer.tuned=true"
            )


def _digest_weights(encoder: nn.Module) -> bytes:
    digest = hashlib.sha256()
    for name, tensor in sorted(encoder.state_dict().items()):
        digest.update(name.encode())
        digest.update(np.ascontiguousarray(tensor.cpu().numpy()).data)
    return digest.digest()
