"""The bundle: everything needed to tag, in one folder that runs without PyTorch.

A bundle is a folder of three files. Nothing in it is pickled; loading one can never run code.

``bundle.json`` (UTF-8, one top-level key a line, the long one last):

    format      2, this description; a reader refuses a higher number. Format 1 has no ``forbidden``
    gonie       version of gonie that wrote it
    task        "tag"
    constrained whether decoding keeps to sequences that the tag scheme allows
    forbidden   moves that decoding never makes, as ``gonie.data.rules`` reads them
    tokenizer   how raw text becomes tokens, as ``gonie.data.tokenize`` writes it
    model       a summary for people: the parts and their sizes
    scores      what the model reached when it was trained, by name
    recipe      the resolved recipe it was trained with
    files       SHA-256 of each other file, in hexadecimal
    encoding    vocabularies, features, labels and tag scheme, as ``gonie.data.encoding`` writes them

``model.onnx``: a graph from the arrays of a batch (those of ``gonie.data.batching`` that it declares as
inputs, and ``G.rows``, see ``session``) to ``scores`` (B, T, K), float32, one column for each label in order.

``weights.safetensors``: ``transitions`` (K, K) indexed [from, to], ``start`` (K,), ``end`` (K,), float32;
zeros for a softmax model.

A bundle is written whole or not at all, and an earlier one is replaced only by a whole one (see ``folder``).
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
import safetensors.numpy
from numpy.typing import NDArray
from safetensors import SafetensorError

from gonie.data.encoding import Encoding
from gonie.errors import BundleError, GonieError
from gonie.runtime.folder import replace_folder, set_aside
from gonie.version import __version__

FORMAT = 2
INDEX, GRAPH, WEIGHTS = "bundle.json", "model.onnx", "weights.safetensors"
CHAIN = ("transitions", "start", "end")
KINDS: Mapping[str, type] = {
    "gonie": str,
    "task": str,
    "constrained": bool,
    "forbidden": list,
    "tokenizer": dict,
    "model": dict,
    "scores": dict,
    "recipe": dict,
}


@dataclass(frozen=True)
class Bundle:
    """A trained tagger as plain values: see the module for what each part means on disk.

    ``graph`` is the serialised ONNX model; ``transitions`` (K, K), ``start`` (K,) and ``end`` (K,) the chain.
    """

    encoding: Encoding
    tokenizer: Mapping[str, Any]
    graph: bytes
    transitions: NDArray[np.float32]
    start: NDArray[np.float32]
    end: NDArray[np.float32]
    constrained: bool = True
    forbidden: Sequence[str] = ()
    task: str = "tag"
    model: Mapping[str, Any] = field(default_factory=dict)
    scores: Mapping[str, Any] = field(default_factory=dict)
    recipe: Mapping[str, Any] = field(default_factory=dict)
    gonie: str = __version__


def write_bundle(folder: str | PathLike[str], bundle: Bundle) -> None:
    """Write ``bundle`` as ``folder``, whole or not at all; an earlier bundle there is replaced."""
    chain = {name: np.ascontiguousarray(getattr(bundle, name), dtype=np.float32) for name in CHAIN}
    files = {GRAPH: bundle.graph, WEIGHTS: safetensors.numpy.save(chain)}
    index = {
        "format": FORMAT,
        "gonie": bundle.gonie,
        "task": bundle.task,
        "constrained": bundle.constrained,
        "forbidden": list(bundle.forbidden),
        "tokenizer": bundle.tokenizer,
        "model": bundle.model,
        "scores": bundle.scores,
        "recipe": bundle.recipe,
        "files": {name: _digest(content) for name, content in files.items()},
        "encoding": bundle.encoding.to_json(),
    }
    replace_folder(Path(folder), {INDEX: _dump(index), **files})


def read_bundle(folder: str | PathLike[str]) -> Bundle:
    """Read and check the bundle in ``folder``; anything wrong with it is a ``BundleError``."""
    place = Path(folder)
    index = _read_index(place)
    content = {name: _read(place, name) for name in (GRAPH, WEIGHTS)}
    try:
        for name, data in content.items():
            if _digest(data) != index["files"][name]:
                raise BundleError(f"{place}: {name} is not the file that was exported. {_AGAIN}")
        _check_kinds(index)
        encoding = Encoding.from_json(index["encoding"])
        chain = _read_chain(place, content[WEIGHTS], len(encoding.labels))
        return Bundle(
            encoding=encoding,
            graph=content[GRAPH],
            **chain,
            **{name: index[name] for name in KINDS},
        )
    except BundleError:
        raise
    except (KeyError, TypeError, ValueError, AttributeError, IndexError, GonieError) as error:
        raise BundleError(
            f"{place / INDEX}: expected the keys of bundle format {FORMAT}, got a damaged file "
            f"({type(error).__name__}: {error}). {_AGAIN}"
        ) from error


_AGAIN = "Copy the bundle again, or export it again: gonie export MODEL --out DIR."


def _read_index(folder: Path) -> dict[str, Any]:
    _check_folder(folder)
    try:
        index = json.loads(_read(folder, INDEX))
    except ValueError as error:
        raise BundleError(
            f"{folder / INDEX}: expected JSON, got a damaged file ({error}). {_AGAIN}"
        ) from error
    found = index.get("format") if isinstance(index, dict) else None
    if not isinstance(found, int) or found < 1:
        raise BundleError(
            f"{folder / INDEX}: expected a bundle's description, got JSON without its format. {_AGAIN}"
        )
    if found > FORMAT:
        raise BundleError(
            f"{folder}: expected bundle format {FORMAT} or lower, got {found}, written by gonie "
            f"{index.get('gonie')}; this is gonie {__version__}. Do: pip install --upgrade gonie"
        )
    return {"forbidden": [], **index}  # which format 1 does not have


def _check_kinds(index: Mapping[str, Any]) -> None:
    """Refuse values of a kind that nobody downstream would expect."""
    for name, kind in KINDS.items():
        if not isinstance(index[name], kind):
            raise TypeError(f"{name} is {json.dumps(index[name])[:40]}")
    if not all(isinstance(rule, str) for rule in index["forbidden"]):
        raise TypeError(f"forbidden is {json.dumps(index['forbidden'])[:40]}")


def _check_folder(folder: Path) -> None:
    if folder.is_dir():
        return
    if set_aside(folder).is_dir() and not folder.exists():
        raise BundleError(
            f"{folder}: expected a bundle, got nothing: an export was stopped half-way. "
            f"Do: mv {set_aside(folder)} {folder}"
        )
    got = "a file" if folder.exists() else "nothing there"
    raise BundleError(f"{folder}: expected a bundle's folder, got {got}. Check the path.")


def _read(folder: Path, name: str) -> bytes:
    try:
        return (folder / name).read_bytes()
    except FileNotFoundError as error:
        raise BundleError(
            f"{folder}: expected a bundle with {INDEX}, {GRAPH} and {WEIGHTS}, got no {name}. {_AGAIN}"
        ) from error
    except OSError as error:
        raise BundleError(f"{folder / name}: expected a readable file, got {error.strerror}.") from error


def _read_chain(folder: Path, content: bytes, tags: int) -> dict[str, Any]:
    try:
        weights = safetensors.numpy.load(content)
    except SafetensorError as error:
        raise BundleError(f"{folder / WEIGHTS}: expected safetensors, got {error}. {_AGAIN}") from error
    got = {name: weights[name].shape for name in CHAIN}
    if got != {"transitions": (tags, tags), "start": (tags,), "end": (tags,)}:
        raise BundleError(
            f"{folder / WEIGHTS}: expected a chain over {tags} labels, got shapes {got}. {_AGAIN}"
        )
    return {name: weights[name] for name in CHAIN}


def _digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def _dump(index: Mapping[str, Any]) -> bytes:
    """JSON with one top-level key a line, so that the file opens with what a person looks for."""
    lines = (
        f"{json.dumps(key)}: {json.dumps(value, ensure_ascii=False, separators=(',', ':'), allow_nan=False)}"
        for key, value in index.items()
    )
    return ("{\n" + ",\n".join(lines) + "\n}\n").encode("utf-8")
