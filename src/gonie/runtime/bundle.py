"""The bundle: a trained model of any task in one folder, which runs without PyTorch.

A bundle is a folder of two or more files. Nothing in it is pickled, so loading a bundle never runs code.

``bundle.json`` (UTF-8, one top-level key per line, the long one last):

    format      4, the format described here; readers refuse higher numbers
    gonie       version of gonie that wrote the bundle
    task        the name of the task, such as "tag"
    model       a readable summary: the parts and their sizes
    scores      the scores of the model after training, by name
    recipe      the resolved recipe of the training
    layers      only for models with contextual embeddings: how the layers of the language model are mixed,
                for each place where they are used {place, shares, scale, normalized}
    files       SHA-256 of each other file, in hexadecimal
    encoding    vocabularies, features and labels, as the encoding of the task writes them

and further keys of the task, which are described in the class that implements ``Contents`` for the task
(``gonie.tasks.tagging.bundle``, ``gonie.tasks.classification.bundle``).

``model.onnx``: a graph from the arrays of a batch that it declares as inputs (see ``session``) to float32.

``forms.onnx``, only for models that read the characters of words: a graph from the arrays that have one row
per distinct form of the batch to ``spelled`` (U, F). Its inputs are any of ``chars``, ``char_lengths`` and
``bytes`` (without the rows of the marks). ``spelled`` is then a further input of ``model.onnx``. The result
for a form depends on that form only, so it can be cached.

Further files are defined by the task.

A reader trusts nothing in a bundle. It accepts only these file names, with size limits (``LIMITS`` and
``Contents.further``). It checks the type and size of every value of the description
(``bundle_description``), the operators and tensors of each graph (``graph_check``), and that graph and
description fit together (``smoke_test``).

Format 3 has no ``forms.onnx``: its one graph reads all arrays. Format 2 exists only for taggers and is
otherwise the same. Format 1 has no ``forbidden``. All formats can be read. A bundle is written atomically, so
an earlier one is replaced only by a complete one (``gonie.system.atomic_folder``).
"""

from __future__ import annotations

import hashlib
import json
import os
import stat
from collections.abc import Mapping
from os import PathLike
from pathlib import Path
from typing import Any, ClassVar, NamedTuple, Protocol, Self

from safetensors import SafetensorError

from gonie.errors import BundleError, GonieError, MissingExtraError, OutputError
from gonie.runtime.about import About
from gonie.runtime.bundle_description import check_about, parse_json
from gonie.system.atomic_folder import backup_path, replace_folder
from gonie.version import __version__

FORMAT = 4
INDEX, GRAPH, FORMS = "bundle.json", "model.onnx", "forms.onnx"
LIMITS: Mapping[str, int] = {INDEX: 1 << 27, GRAPH: (1 << 31) - 1, FORMS: (1 << 31) - 1}
"""The maximum size of each file in bytes. ``Contents.further`` has the limits of a task's files."""


class Graphs(NamedTuple):
    """The serialised ONNX graph of an exported model and, if it has one, its graph of forms.

    What a model computes from the characters of a word is the same in every sentence. The graph ``forms``
    computes it for U distinct forms: from any of ``chars`` (U, C), ``char_lengths`` (U,) and ``bytes`` (U, L)
    to ``spelled`` (U, F), which is then an input of the main graph.
    """

    graph: bytes
    forms: bytes | None = None


class Contents(Protocol):
    """The contents of a bundle of one task, as plain values. Each task implements it as a dataclass."""

    __dataclass_fields__: ClassVar[dict[str, Any]]
    task: ClassVar[str]
    """The name of the task."""
    further: ClassVar[Mapping[str, int]]
    """The maximum size in bytes of each file other than the description and the graphs, by name."""

    @property
    def encoding(self) -> Any:
        """The encoding of texts as the arrays of a batch. The description contains its ``to_json``."""

    @property
    def graph(self) -> bytes:
        """The graph of the model (``Graphs``)."""

    @property
    def forms(self) -> bytes | None:
        """The graph of forms (``Graphs``), if any."""

    @property
    def about(self) -> About:
        """The metadata."""

    def describe(self) -> dict[str, Any]:
        """Return the keys of the description that only bundles of this task have."""

    def files(self) -> dict[str, bytes]:
        """Return the content of each ``further`` file."""

    @classmethod
    def check(cls, index: Mapping[str, Any]) -> None:
        """Raise a ``ValueError`` that names the first invalid value of the description."""

    @classmethod
    def read(cls, index: Mapping[str, Any], graphs: Graphs, files: Mapping[str, bytes]) -> Self:
        """Create the contents from a checked description, graphs and further files. May raise any error."""


Kinds = Mapping[str, type[Contents]]
"""The supported classes of bundle contents, by task."""


def write_bundle(folder: str | PathLike[str], bundle: Contents) -> None:
    """Write ``bundle`` to ``folder`` atomically, replacing an earlier bundle."""
    place, about = Path(folder), bundle.about
    forms = {} if bundle.forms is None else {FORMS: bundle.forms}
    files = {GRAPH: bundle.graph, **forms, **bundle.files()}
    index = {
        "format": FORMAT,
        "gonie": about.gonie,
        "task": bundle.task,
        **bundle.describe(),
        "model": about.model,
        "scores": about.scores,
        "recipe": about.recipe,
        **({"layers": list(about.layers)} if about.layers else {}),
        "files": {name: _digest(content) for name, content in files.items()},
        "encoding": bundle.encoding.to_json(),
    }
    description = _dump(index)
    _check_readable(place, description, type(bundle))
    replace_folder(place, {INDEX: description, **files}, earlier=[FORMS, *_further_files(place)])


def _further_files(folder: Path) -> list[str]:
    """Return the further files of an earlier bundle, perhaps of another task, that match their digests."""
    place = folder if folder.exists() else backup_path(folder)
    try:
        listed = _read_index(place)["files"]
        names = [entry.name for entry in place.iterdir() if entry.name not in LIMITS and entry.is_file()]
        return [name for name in names if listed.get(name) == _digest((place / name).read_bytes())]
    except (*_WRONG, OSError, BundleError):
        return []


def _check_readable(folder: Path, description: bytes, kind: type[Contents]) -> None:
    """Refuse to write what a reader would refuse."""
    if len(description) > LIMITS[INDEX]:
        raise OutputError(
            f"cannot write {folder}: {INDEX} would have {len(description):,} bytes, more than "
            f"{LIMITS[INDEX]:,}, because there are too many words or features. Train with fewer word vectors "
            "(data.vectors_limit) or features (data.min_feature_count)"
        )
    try:
        index = parse_json(description)
        check_about(index)
        kind.check(index)
    except ValueError as error:
        raise OutputError(f"cannot write {folder}: the bundle could not be read again: {error}") from error


def read_bundle(folder: str | PathLike[str], kinds: Kinds) -> Any:
    """Read and check the bundle in ``folder``, of a task in ``kinds``. Any problem raises BundleError."""
    place = Path(folder)
    index = _read_index(place)
    kind = _kind(place, index, kinds)
    try:
        check_about(index)
        kind.check(index)
        files = {name: _read_file(place, index, name, kind) for name in _names(index, kind)}
        return kind.read(index, Graphs(files[GRAPH], files.get(FORMS)), files)
    except (BundleError, MissingExtraError):
        raise
    except (*_WRONG, SafetensorError, GonieError) as error:
        raise _damaged(place, error) from error


def read_about(folder: str | PathLike[str]) -> About:
    """Return the metadata of the bundle in ``folder`` without reading its graph."""
    place = Path(folder)
    index = _read_index(place)
    try:
        check_about(index)
        return About.read(index)
    except _WRONG as error:
        raise _damaged(place, error) from error


_WRONG = (LookupError, TypeError, ValueError, AttributeError, ArithmeticError, RecursionError)
"""The errors that invalid values may cause."""
_AGAIN = "Copy or export the bundle again: gonie export MODEL --out DIR"


def _damaged(folder: Path, error: Exception) -> BundleError:
    what = str(error) if isinstance(error, ValueError | GonieError) else f"{type(error).__name__}: {error}"
    return BundleError(f"{folder / INDEX}: damaged bundle: {what}. {_AGAIN}")


def _read_index(folder: Path) -> dict[str, Any]:
    _check_folder(folder)
    try:
        index = parse_json(_read(folder, INDEX))
    except ValueError as error:
        raise BundleError(f"{folder / INDEX}: invalid JSON: {error}. {_AGAIN}") from error
    found = index.get("format") if isinstance(index, dict) else None
    if not isinstance(found, int) or isinstance(found, bool) or found < 1:
        raise BundleError(f"{folder / INDEX}: not a bundle: it has no valid format number. {_AGAIN}")
    if found > FORMAT:
        raise BundleError(
            f"{folder}: unsupported bundle format {found}, written by gonie {str(index.get('gonie'))[:40]}. "
            f"gonie {__version__} reads formats up to {FORMAT}. Run: pip install --upgrade gonie"
        )
    return dict(index)


def _kind(folder: Path, index: Mapping[str, Any], kinds: Kinds) -> type[Contents]:
    task = index.get("task")
    if not isinstance(task, str) or task not in kinds:
        raise BundleError(
            f"{folder}: unknown task {repr(task)[:40]}; this version of gonie knows {', '.join(kinds)}. "
            "Update gonie to load it"
        )
    return kinds[task]


def _names(index: Mapping[str, Any], kind: type[Contents]) -> tuple[str, ...]:
    """Return the names of the files other than the description. Refuse names that the task does not have."""
    wanted = (GRAPH, *((FORMS,) if FORMS in index["files"] else ()), *kind.further)
    unknown = sorted(set(index["files"]) - set(wanted))
    if unknown:
        raise ValueError(f"unknown file {unknown[0][:40]!r} in files")
    return wanted


def _check_folder(folder: Path) -> None:
    if folder.is_dir():
        return
    if backup_path(folder).is_dir() and not folder.exists():
        raise BundleError(
            f"{folder}: folder not found, because an export was interrupted. "
            f"Run: mv {backup_path(folder)} {folder}"
        )
    if folder.exists():
        raise BundleError(f"{folder}: expected a model's folder, got a file. Pass a run folder or a bundle")
    raise BundleError(
        f"{folder}: folder not found. Check the path, or train a model: "
        f"gonie train RECIPE FILE --out {folder}"
    )


def _read_file(folder: Path, index: Mapping[str, Any], name: str, kind: type[Contents]) -> bytes:
    content = _read(folder, name, kind.further)
    if _digest(content) != index["files"][name]:
        raise BundleError(f"{folder}: {name} has changed since it was exported. {_AGAIN}")
    return content


def _read(folder: Path, name: str, further: Mapping[str, int] | None = None) -> bytes:
    limits = {**LIMITS, **(further or {})}
    try:
        found = os.stat(folder / name)
        if not stat.S_ISREG(found.st_mode):  # a pipe would never end
            raise BundleError(f"{folder / name}: not a regular file. {_AGAIN}")
        if found.st_size > limits[name]:
            raise BundleError(
                f"{folder / name}: {found.st_size:,} bytes, more than {limits[name]:,}. {_AGAIN}"
            )
        return (folder / name).read_bytes()
    except FileNotFoundError as error:
        raise BundleError(f"{folder}: not a complete bundle: no {name}. {_AGAIN}") from error
    except OSError as error:
        raise BundleError(f"{folder / name}: cannot read the file: {error.strerror}") from error


def _digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def _dump(index: Mapping[str, Any]) -> bytes:
    """Return JSON with one top-level key per line, so that the readable values come first."""
    lines = (
        f"{json.dumps(key)}: {json.dumps(value, ensure_ascii=False, separators=(',', ':'), allow_nan=False)}"
        for key, value in index.items()
    )
    return ("{\n" + ",\n".join(lines) + "\n}\n").encode("utf-8")
