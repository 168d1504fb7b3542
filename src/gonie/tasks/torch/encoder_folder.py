"""The folder of a transformer in the layout of Hugging Face, read by the library transformers.

No code of the folder is run, no pickle is read, and nothing is looked up on a network.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError, safe_open
from torch import nn

from gonie.errors import BundleError, InputError, MissingExtraError, RecipeError
from gonie.features.pieces import PieceTokenizer, Pooling
from gonie.text.report import count

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
LFS = b"version https://git-lfs"
"""The beginning of a file that stands for another one in a clone."""
LONGEST = 8192
"""The most sub-words read at once, also by an encoder without a limit."""


def read_config(folder: Path) -> Any:
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


def build_encoder(values: Mapping[str, Any]) -> nn.Module:
    """Build an encoder with random weights."""
    library = _library()
    with _quiet():
        return _without_pooler(library.AutoModel.from_config(library.AutoConfig.for_model(**values)))


def read_encoder(folder: Path, config: Any, *, depth: int) -> nn.Module:
    """Load the encoder up to layer ``depth``."""
    config.num_hidden_layers = depth
    _check_weights(folder / WEIGHTS)
    try:
        with _quiet():
            found, info = _library().AutoModel.from_pretrained(
                folder,
                config=config,
                local_files_only=True,
                trust_remote_code=False,
                use_safetensors=True,
                ignore_mismatched_sizes=True,  # they are refused below
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
            f"{folder / WEIGHTS}: does not fit {CONFIG}: missing or of another shape: "
            f"{count(len(wrong), 'weight')}, such as {wrong[0]}"
        )
    if broken := [name for name, weight in encoder.named_parameters() if not torch.isfinite(weight).all()]:
        raise BundleError(f"{folder / WEIGHTS}: {broken[0]} has values that are not finite")
    return encoder.eval()


def _check_weights(path: Path) -> None:
    """Refuse a file of weights that is damaged, or only the pointer to one."""
    with path.open("rb") as file:
        if file.read(len(LFS)) == LFS:
            raise BundleError(f"{path}: a pointer of Git LFS, not the weights. Download them: git lfs pull")
    try:
        with safe_open(path, "pt"):
            pass
    except SafetensorError as error:
        raise BundleError(f"{path}: damaged or incomplete ({error}). Download the file again") from error


def _without_pooler(encoder: nn.Module) -> nn.Module:
    """Remove the layer over the first sub-word, which is not used."""
    if isinstance(getattr(encoder, "pooler", None), nn.Module):
        encoder.pooler = None  # type: ignore[assignment]
    return encoder


def read_pieces(
    folder: Path, encoder: nn.Module, *, joined: bool, fold: bool, pooling: Pooling
) -> PieceTokenizer:
    """Read the tokenizer of an encoder."""
    try:
        pieces = PieceTokenizer(
            (folder / TOKENIZER).read_text("utf-8"),
            joined=joined,
            fold=fold,
            pooling=pooling,
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
