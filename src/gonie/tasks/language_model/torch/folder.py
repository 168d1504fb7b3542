"""A language model on disk, as written by `gonie pretrain` and `gonie import-elmo`.

    bilm.json              the shape, the language and unit of its words, and its origin
    weights.safetensors    the biLM, in the data type given by ``storage``
    vocabulary.txt         the words that it predicts, one per line, most frequent first; optional
    softmax.safetensors    their vectors and biases; optional: needed for further training only

Using a model does not require its softmax, which is often the larger part.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pydantic import ValidationError
from torch import Tensor

from gonie.errors import BundleError, OutputError
from gonie.nn.bilm.bilm import BiLM
from gonie.system.files import atomic_write, make_folder
from gonie.tasks.language_model.shape import BilmConfig
from gonie.tasks.language_model.torch.build import build_bilm
from gonie.tasks.language_model.torch.storage import Storage, pack, unpack
from gonie.tasks.paths import locate_bilm, shipped_bilms
from gonie.tasks.run_files import BILM_FOLDER
from gonie.tasks.torch.checkpoint import read_tensors, write_tensors

INDEX, WEIGHTS, SOFTMAX, VOCABULARY = (
    "bilm.json",
    "weights.safetensors",
    "softmax.safetensors",
    "vocabulary.txt",
)
FORMAT = 1


@dataclass(frozen=True)
class Predictions:
    """What a language model needs to predict words: the words, and the weights of its softmax."""

    words: Sequence[str]
    weights: Mapping[str, Tensor]
    """``weight`` (V, P) and ``bias`` (V,)."""


@dataclass(frozen=True)
class SavedBilm:
    """A biLM with the information needed to use it."""

    bilm: BiLM
    shape: BilmConfig
    language: str
    unit: str
    about: Mapping[str, Any] = field(default_factory=dict)
    """Its origin: text, words read, perplexity."""
    predictions: Predictions | None = None


def save_bilm(folder: Path, saved: SavedBilm, *, storage: Storage = "float16") -> None:
    """Write the model. The index is written last, and a folder without it is not a model."""
    make_folder(folder)
    for name in (INDEX, VOCABULARY, SOFTMAX):  # of an earlier model in this folder
        (folder / name).unlink(missing_ok=True)
    write_tensors(folder / WEIGHTS, pack(saved.bilm.state_dict(), storage))
    if saved.predictions is not None:
        atomic_write(folder / VOCABULARY, "".join(f"{word}\n" for word in saved.predictions.words))
        write_tensors(folder / SOFTMAX, pack(saved.predictions.weights, storage))
    atomic_write(folder / INDEX, describe(saved))


def check_free(folder: Path) -> None:
    """Raise an error if the folder contains a language model or its run, so that it is not overwritten."""
    if any((place / INDEX).exists() for place in (folder, folder / BILM_FOLDER)):
        raise OutputError(
            f"{folder}: the folder already contains a language model. Use another folder (--out DIR)."
        )


def describe(saved: SavedBilm) -> str:
    """Return the content of ``bilm.json``."""
    index = {
        "format": FORMAT,
        "language": saved.language,
        "unit": saved.unit,
        "shape": saved.shape.model_dump(mode="json"),
        "about": dict(saved.about),
    }
    return json.dumps(index, ensure_ascii=False, indent=1)


def load_bilm(place: str | Path, *, predictions: bool = False) -> SavedBilm:
    """Load the model that ``find_bilm`` finds, with its softmax if ``predictions``."""
    folder = find_bilm(place)
    index = read_index(folder)
    shape = read_shape(folder, index)
    bilm = build_bilm(shape)
    bilm.load_state_dict(_read_weights(folder / WEIGHTS, bilm.state_dict()))
    return SavedBilm(
        bilm=bilm.eval(),
        shape=shape,
        language=str(index["language"]),
        unit=str(index["unit"]),
        about=index.get("about", {}),
        predictions=_read_predictions(folder) if predictions else None,
    )


def find_bilm(place: str | Path) -> Path:
    """Return the folder of the model: ``place`` itself, or the one in a run folder.

    A text may also be the name of a model that ships with gonie (``gonie.tasks.paths.locate_bilm``).
    """
    path = locate_bilm(place) if isinstance(place, str) else place
    for folder in (path, path / BILM_FOLDER):
        if (folder / INDEX).is_file():
            return folder
    raise BundleError(
        f"{place}: not a language model: {INDEX} not found. Create one with gonie pretrain or "
        f"gonie import-elmo, or use one that ships with gonie: {', '.join(shipped_bilms())}."
    )


def read_index(folder: Path) -> dict[str, Any]:
    """Return the content of ``bilm.json``."""
    try:
        index = json.loads((folder / INDEX).read_text("utf-8"))
        if index["format"] != FORMAT:
            raise ValueError(f"unsupported format {index['format']}; this version of gonie reads {FORMAT}")
        _ = index["language"], index["unit"]
    except (OSError, ValueError, TypeError, LookupError) as error:
        reason = f"missing key {error}" if isinstance(error, KeyError) else error
        raise BundleError(f"{folder / INDEX}: not a language model: {reason}") from error
    return dict(index)


def read_shape(folder: Path, index: Mapping[str, Any]) -> BilmConfig:
    """Return the shape that ``bilm.json`` describes."""
    try:
        return BilmConfig.model_validate(index["shape"])
    except (ValidationError, LookupError) as error:
        raise BundleError(f"{folder / INDEX}: invalid shape of a language model: {_reason(error)}") from error


def _read_weights(path: Path, wanted: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """Read the tensors of a file. Their names and shapes must equal those of ``wanted``."""
    tensors, _ = read_tensors(path)
    weights = unpack(tensors)
    for name in {**wanted, **weights}:
        sizes = [str(tuple(found[name].shape)) if name in found else "none" for found in (wanted, weights)]
        if sizes[0] != sizes[1]:
            raise BundleError(
                f"{path}: expected shape {sizes[0]} of {name} by {INDEX}, got {sizes[1]}. "
                "The two files are not of the same model."
            )
    return weights


def _reason(error: ValidationError | LookupError) -> str:
    """Return what is wrong with a shape, in one line."""
    if isinstance(error, LookupError):
        return "no shape"
    first = error.errors()[0]
    return ": ".join([*filter(None, [".".join(map(str, first["loc"]))]), first["msg"]])


def _read_predictions(folder: Path) -> Predictions:
    try:
        words = (folder / VOCABULARY).read_text("utf-8").split("\n")[:-1]
    except OSError as error:
        raise BundleError(
            f"{folder}: {VOCABULARY} not found: the model was saved without its softmax. "
            "Use --set model.softmax.words=own."
        ) from error
    tensors, _ = read_tensors(folder / SOFTMAX)
    weights = unpack(tensors)
    sizes = {name: len(weights[name]) if name in weights else 0 for name in ("weight", "bias")}
    if set(sizes.values()) != {len(words)}:
        raise BundleError(
            f"{folder}: expected vectors and biases of {len(words):,} words, got {sizes['weight']:,} and "
            f"{sizes['bias']:,}"
        )
    return Predictions(words, weights)
