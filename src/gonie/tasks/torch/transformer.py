"""A transformer in torch: an encoder from a folder, as an embedding with one mix of its layers per place.

The folder has the layout of Hugging Face, and the library transformers builds the encoder from it. No code of
the folder is run, no pickle is read, and nothing is looked up on a network.
"""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from copy import deepcopy
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import nn

from gonie.errors import BundleError, InputError, MissingExtraError, RecipeError
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

if TYPE_CHECKING:
    from gonie.tasks.sections import CorpusConfig
    from gonie.tasks.transformer import TransformerConfig

CONFIG, WEIGHTS, TOKENIZER = "config.json", "model.safetensors", "tokenizer.json"
LARGEST = {CONFIG: 1 << 20, TOKENIZER: 1 << 26, WEIGHTS: 1 << 36}
"""The most bytes of each file."""
SIZES = {
    "num_hidden_layers": 200,
    "hidden_size": 1 << 14,
    "vocab_size": 1 << 22,
    "intermediate_size": 1 << 17,
}
"""The largest values of a configuration, so that a damaged one does not fill the memory."""
LONGEST = 8192
"""The most sub-words read at once, also by an encoder without a limit."""
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
        described = _read_config(folder)
        layers = _numbered(config.layers, described.num_hidden_layers)
        encoder = _read_encoder(folder, described, depth=max(layers))
        pieces = _read_pieces(folder, encoder, data, config)
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
            return cls(_build(saved["config"]), tuple(saved["layers"]))
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
            encoder = _build(config)
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


def _read_config(folder: Path) -> Any:
    """Return the configuration in a folder with an encoder, after checking the files."""
    for name in (CONFIG, WEIGHTS, TOKENIZER):
        _check_file(folder, name)
    try:
        values = json.loads((folder / CONFIG).read_bytes())
    except (ValueError, RecursionError) as error:
        raise BundleError(f"{folder / CONFIG}: invalid JSON: {error}") from error
    if not isinstance(values, dict) or not isinstance(values.get("model_type"), str):
        raise BundleError(f"{folder / CONFIG}: not the configuration of a transformer: it has no model_type")
    if "auto_map" in values:
        raise BundleError(
            f"{folder / CONFIG}: the model needs code of its own (auto_map), which gonie never runs. "
            "Use a model that the library transformers has"
        )
    config = _described(values, folder / CONFIG)
    for name, most in SIZES.items():
        size = getattr(config, name, 1)
        if not isinstance(size, int) or not 0 < size <= most:
            raise BundleError(
                f"{folder / CONFIG}: {name} must be between 1 and {most:,}, not {str(size)[:40]}"
            )
    if getattr(config, "is_encoder_decoder", False) or getattr(config, "is_decoder", False):
        raise BundleError(f"{folder}: {config.model_type} is not an encoder. Use a model such as BERT")
    return config


def _check_file(folder: Path, name: str) -> None:
    path = folder / name
    if not folder.is_dir():
        what = "a file" if folder.exists() else "not found"
        raise RecipeError(
            [f"model.transformer.path: {folder}: {what}; use a folder with {CONFIG}, {WEIGHTS}, {TOKENIZER}"]
        )
    if not path.is_file():
        pickled = name == WEIGHTS and any(folder.glob("*.bin"))
        split = name == WEIGHTS and any(folder.glob("model-*.safetensors"))
        why = (
            " It has a pickle (.bin), which gonie never reads: save the model as safetensors."
            if pickled
            else ""
        )
        why = why or (" Its weights are in several files: save them as one." if split else "")
        raise BundleError(f"{folder}: not a transformer: {name} not found.{why}")
    if path.stat().st_size > LARGEST[name]:
        raise BundleError(f"{path}: {path.stat().st_size:,} bytes, more than {LARGEST[name]:,}")


def _described(values: Mapping[str, Any], path: Path) -> Any:
    """Return the configuration with these values."""
    from_values = _library().AutoConfig.for_model
    try:
        with _quiet():
            return from_values(**values)
    except Exception as error:  # the library raises many types
        raise BundleError(f"{path}: invalid configuration of a transformer: {_first_line(error)}") from error


def _build(values: Mapping[str, Any]) -> nn.Module:
    """Build an encoder with random weights."""
    library = _library()
    with _quiet():
        return _without_pooler(library.AutoModel.from_config(library.AutoConfig.for_model(**values)))


def _read_encoder(folder: Path, config: Any, *, depth: int) -> nn.Module:
    """Load the encoder up to layer ``depth``."""
    config.num_hidden_layers = depth
    try:
        with _quiet():
            found, info = _library().AutoModel.from_pretrained(
                folder,
                config=config,
                local_files_only=True,
                trust_remote_code=False,
                use_safetensors=True,
                output_loading_info=True,
            )
    except MemoryError:
        raise
    except Exception as error:  # the library raises many types
        raise BundleError(f"{folder}: cannot load the transformer: {_first_line(error)}") from error
    encoder = _without_pooler(found).float()
    lost = sorted(set(info["missing_keys"]) & encoder.state_dict().keys())
    if lost or info.get("mismatched_keys"):
        wrong = lost or [str(key) for key in info["mismatched_keys"]]
        raise BundleError(
            f"{folder / WEIGHTS}: does not fit {CONFIG}: {len(wrong)} weights are missing or of another "
            f"shape, such as {wrong[0]}"
        )
    if broken := [name for name, weight in encoder.named_parameters() if not torch.isfinite(weight).all()]:
        raise BundleError(f"{folder / WEIGHTS}: {broken[0]} has values that are not finite")
    return encoder.eval()


def _without_pooler(encoder: nn.Module) -> nn.Module:
    """Remove the layer over the first sub-word, which is not used."""
    if isinstance(getattr(encoder, "pooler", None), nn.Module):
        encoder.pooler = None  # type: ignore[assignment]
    return encoder


def _read_pieces(
    folder: Path, encoder: nn.Module, data: CorpusConfig, config: TransformerConfig
) -> PieceTokenizer:
    try:
        pieces = PieceTokenizer(
            (folder / TOKENIZER).read_text("utf-8"),
            joined=_joined(data),
            fold=data.fold_text,
            pooling=config.pooling,
            limit=min(_positions(encoder), LONGEST),
        )
    except (InputError, UnicodeDecodeError) as error:
        raise BundleError(f"{folder / TOKENIZER}: {error}") from error
    known = encoder.get_input_embeddings().num_embeddings  # type: ignore[operator]
    if pieces.size > known:
        raise BundleError(
            f"{folder}: {TOKENIZER} has {pieces.size:,} sub-words, but {WEIGHTS} has vectors of {known:,}. "
            "The two files are not of the same model"
        )
    return pieces


def _positions(encoder: nn.Module) -> int:
    """Return how many sub-words an encoder reads at once. Some begin to count positions after padding."""
    tables = [part for name, part in encoder.named_modules() if name.endswith("position_embeddings")]
    if tables and isinstance(tables[0], nn.Embedding):
        padding = tables[0].padding_idx
        return tables[0].num_embeddings - (0 if padding is None else padding + 1)
    found = getattr(encoder.config, "max_position_embeddings", 0)
    return found if isinstance(found, int) and found > 0 else 512


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


def _digest_weights(encoder: nn.Module) -> bytes:
    digest = hashlib.sha256()
    for name, tensor in sorted(encoder.state_dict().items()):
        digest.update(name.encode())
        digest.update(np.ascontiguousarray(tensor.cpu().numpy()).data)
    return digest.digest()


def _library() -> Any:
    """Import the library transformers."""
    try:
        import transformers
    except ImportError as error:
        raise MissingExtraError("transformers", extra="transformers", purpose="a transformer") from error
    return transformers


@contextmanager
def _quiet() -> Iterator[None]:
    """Silence the library within the block. What matters is raised as an error."""
    logging = _library().utils.logging
    level, bars = logging.get_verbosity(), logging.is_progress_bar_enabled()
    logging.set_verbosity(logging.CRITICAL)
    logging.disable_progress_bar()
    try:
        yield
    finally:
        logging.set_verbosity(level)
        if bars:
            logging.enable_progress_bar()


def _first_line(error: Exception) -> str:
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return (lines or [type(error).__name__])[0][:200]
