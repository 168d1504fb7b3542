"""Reading published ELMo weights: a JSON file of options and an HDF5 file of arrays.

    char_embed                                              (261, D)     bytes and marks; 262 with the mask
    CNN/W_cnn_{i}, b_cnn_{i}                                (1, kernel, D, number), (number,)
    CNN_high_{i}/W_carry, b_carry, W_transform, b_transform (N, N), (N,) each, over all N filters
    CNN_proj/W_proj, b_proj                                 (N, P), (P,)
    RNN_{0,1}/RNN/MultiRNNCell/Cell{l}/LSTMCell/W_0, B, W_P_0
                                                            (2P, 4H), (4H,), (H, P); 0 forward, 1 backward

Matrices are transposed relative to torch. Gates are in the order input, cell, forget, output. The original
code adds a forget bias of 1 at run time, which is not in the file.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Literal

import numpy as np
import torch
from numpy.typing import NDArray
from pydantic import BaseModel, ConfigDict, PositiveInt, ValidationError
from torch import Tensor

from gonie.errors import InputError, MissingExtraError
from gonie.system.files import unreadable
from gonie.tasks.language_model.shape import BilmConfig
from gonie.tasks.language_model.torch.build import build_bilm
from gonie.tasks.language_model.torch.folder import SavedBilm

FORGET_BIAS = 1.0
Array = NDArray[np.float32]


class _Options(BaseModel):
    """The options that determine how the weights are used. Options for training are ignored."""

    model_config = ConfigDict(extra="ignore", frozen=True, allow_inf_nan=False)


class LstmOptions(_Options):
    """The options of the two LSTM stacks."""

    dim: PositiveInt
    projection_dim: PositiveInt
    n_layers: PositiveInt
    use_skip_connections: bool = False
    cell_clip: float | None = None
    proj_clip: float | None = None


class ByteOptions(_Options):
    """The options of the byte embeddings."""

    dim: PositiveInt


class CnnOptions(_Options):
    """The options of the CNN over the bytes of a word."""

    embedding: ByteOptions
    filters: list[tuple[PositiveInt, PositiveInt]]
    n_highway: int | None = None
    n_characters: Literal[261, 262]
    max_characters_per_token: PositiveInt
    activation: Literal["relu"]


class ElmoOptions(_Options):
    """A complete options file."""

    lstm: LstmOptions
    char_cnn: CnnOptions

    def shape(self) -> BilmConfig:
        """Return the options as a gonie configuration."""
        return BilmConfig(
            byte_width=self.char_cnn.embedding.dim,
            longest=self.char_cnn.max_characters_per_token,
            filters=self.char_cnn.filters,
            highways=self.char_cnn.n_highway or 0,
            width=self.lstm.projection_dim,
            hidden=self.lstm.dim,
            layers=self.lstm.n_layers,
            skip=self.lstm.use_skip_connections,
            cell_clip=self.lstm.cell_clip or 0.0,
            state_clip=self.lstm.proj_clip or 0.0,
        )


class Arrays:
    """The arrays of an HDF5 file, each read on request and checked against the shape of the options."""

    def __init__(self, path: Path, file: Mapping[str, Any]) -> None:
        self._path = path
        self._file = file

    def rows(self, name: str) -> int:
        """Return the number of rows of an array, or 0 if it does not exist."""
        found = self._file.get(name)
        shape = getattr(found, "shape", ())
        return int(shape[0]) if shape else 0

    def read(self, name: str, *shape: int) -> Array:
        """Return an array of this shape."""
        found = self._file.get(name)
        if found is None or not hasattr(found, "shape"):
            raise InputError(
                f"array not found: {name} {_shown(shape)}",
                path=self._path,
                fix="Check that the weights and the options are of the same model",
            )
        if found.shape != shape:
            raise InputError(
                f"expected {name} of shape {_shown(shape)} by the options, got {_shown(found.shape)}",
                path=self._path,
                fix="Check that the weights and the options are of the same model",
            )
        array = self._read_array(name, found)
        if not np.isfinite(array).all():
            raise InputError(f"{name} has values that are not finite", path=self._path)
        return array

    def _read_array(self, name: str, found: Any) -> Array:
        try:
            return np.asarray(found, dtype=np.float32)
        except (OSError, TypeError, ValueError) as error:  # a truncated file, or not numbers
            raise InputError(f"cannot read the numbers of {name}: {error}", path=self._path) from None


def read_published(options: Path, weights: Path, *, language: str = "en", unit: str = "word") -> SavedBilm:
    """Read the model from two published files, ready to be saved or used."""
    shape = read_options(options)
    with _opened(weights) as arrays:
        tensors = dict(_tensors(arrays, shape))
    bilm = build_bilm(shape)
    bilm.load_state_dict(tensors)
    return SavedBilm(
        bilm=bilm.eval(),
        shape=shape,
        language=language,
        unit=unit,
        about={"imported": {"options": options.name, "weights": weights.name}},
    )


def read_options(path: Path) -> BilmConfig:
    """Return the shape that an options file describes."""
    try:
        return ElmoOptions.model_validate(json.loads(path.read_text("utf-8"))).shape()
    except ValidationError as error:
        raise InputError(
            f"invalid options of an ELMo model: {'; '.join(map(_problem, error.errors()))}",
            path=path,
        ) from None
    except OSError as error:
        raise unreadable(path, error) from None
    except (ValueError, RecursionError) as error:  # ValueError also for bytes that are not UTF-8
        raise InputError(
            f"invalid JSON: {error}", path=path, fix="Pass the options file of an ELMo model"
        ) from None


def _problem(error: Mapping[str, Any]) -> str:
    """Return what is wrong with one option, and where."""
    place = ".".join(map(str, error["loc"]))
    given = f" (it is {error['input']!r})" if place and error["type"] != "missing" else ""
    return f"{place}: {error['msg']}{given}" if place else str(error["msg"])


@contextmanager
def _opened(path: Path) -> Iterator[Arrays]:
    try:
        import h5py  # type: ignore[import-untyped]
    except ModuleNotFoundError:
        raise MissingExtraError("h5py", extra="train", purpose="importing ELMo weights") from None
    try:
        path.open("rb").close()  # h5py's own error for a missing file is long
    except OSError as error:
        raise unreadable(path, error) from None
    try:
        file = h5py.File(path, "r")
    except OSError as error:
        raise InputError(
            f"not an HDF5 file: {error}", path=path, fix="Pass the weights of an ELMo model"
        ) from None
    with file:
        yield Arrays(path, file)


def _tensors(arrays: Arrays, shape: BilmConfig) -> Iterator[tuple[str, Tensor]]:
    """Yield the weights by their names in gonie."""
    yield from _word_tensors(arrays, shape)
    for number, direction in enumerate(("ahead", "back")):
        for layer in range(shape.layers):
            place = f"RNN_{number}/RNN/MultiRNNCell/Cell{layer}/LSTMCell"
            for name, array in _lstm_arrays(arrays, place, shape).items():
                yield f"{direction}.layers.{layer}.{name}", _tensor(array)


def _word_tensors(arrays: Arrays, shape: BilmConfig) -> Iterator[tuple[str, Tensor]]:
    """Yield the weights of the character-based word encoder."""
    D = shape.byte_width
    total = sum(number for _, number in shape.filters)
    yield "words.bytes.weight", _tensor(_bytes(arrays, D))
    for i, (kernel, number) in enumerate(shape.filters):
        filters = arrays.read(f"CNN/W_cnn_{i}", 1, kernel, D, number)[0]
        yield f"words.convolutions.{i}.weight", _tensor(filters.transpose(2, 1, 0))  # (number, D, kernel)
        yield f"words.convolutions.{i}.bias", _tensor(arrays.read(f"CNN/b_cnn_{i}", number))
    for i in range(shape.highways):
        # Their "carry" is the share of the transform, not of the input.
        for ours, theirs in (("transform", "transform"), ("gate", "carry")):
            name = f"words.highways.{i}.{ours}"
            yield f"{name}.weight", _tensor(arrays.read(f"CNN_high_{i}/W_{theirs}", total, total).T)
            yield f"{name}.bias", _tensor(arrays.read(f"CNN_high_{i}/b_{theirs}", total))
    yield "words.projection.weight", _tensor(arrays.read("CNN_proj/W_proj", total, shape.width).T)
    yield "words.projection.bias", _tensor(arrays.read("CNN_proj/b_proj", shape.width))


def _bytes(arrays: Arrays, width: int) -> Array:
    """Return the embeddings of the 262 ids. Shape: (262, width).

    Row 0, the mask, is zero and is not in every file.
    """
    mask = np.zeros((1, width), np.float32)
    if arrays.rows("char_embed") == 262:
        return np.concatenate([mask, arrays.read("char_embed", 262, width)[1:]])
    return np.concatenate([mask, arrays.read("char_embed", 261, width)])


def _lstm_arrays(arrays: Arrays, place: str, shape: BilmConfig) -> dict[str, Array]:
    """Return the weights of one layer of one direction."""
    P, H = shape.width, shape.hidden
    gates = _in_order(arrays.read(f"{place}/W_0", 2 * P, 4 * H).T)  # (4H, 2P)
    bias = _in_order(arrays.read(f"{place}/B", 4 * H))
    bias[H : 2 * H] += FORGET_BIAS
    return {
        "input_weight": gates[:, :P],
        "state_weight": gates[:, P:],
        "bias": bias,
        "projection": arrays.read(f"{place}/W_P_0", H, P).T,
    }


def _in_order(gates: Array) -> Array:
    """Reorder gates from input, cell, forget, output to input, forget, cell, output. Shape: (4H, …)."""
    i, j, f, o = np.split(gates, 4)
    return np.concatenate([i, f, j, o])


def _tensor(array: Array) -> Tensor:
    return torch.from_numpy(np.ascontiguousarray(array))


def _shown(shape: tuple[int, ...]) -> str:
    return f"({', '.join(map(str, shape))})"
