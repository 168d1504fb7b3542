"""The bundle: a trained model in one folder that runs without PyTorch, whatever its task.

A bundle is a folder of two or more files. Nothing in it is pickled; loading one can never run code.

``bundle.json`` (UTF-8, one top-level key a line, the long one last):

    format      4, this description; a reader refuses a higher number
    gonie       version of gonie that wrote it
    task        the name of the task, such as "tag"
    model       a summary for people: the parts and their sizes
    scores      what the model reached when it was trained, by name
    recipe      the resolved recipe it was trained with
    layers      of a model with vectors in context: how it mixes the layers of its language model, for each
                place where it uses them {place, shares, scale, normalized}; else not there
    files       SHA-256 of each other file, in hexadecimal
    encoding    vocabularies, features and labels, as the encoding of the task writes them

and further keys of the task, which its class lists (``gonie.tasks.tagging.bundle``,
``gonie.tasks.classification.bundle``): it plays the role of ``Contents``.

``model.onnx``: a graph from the arrays of a batch that it declares as inputs (see ``session``) to float32.

``forms.onnx``, of a model that reads the letters of words: a graph from those arrays of the batch that have a
row for each of its U distinct forms, ``chars``, ``char_lengths`` and ``bytes`` (less the rows of marks before
them), as far as it declares them as inputs, to ``spelled`` (U, F), which ``model.onnx`` then asks for beside
the batch's arrays. What it says of a form depends on that form alone, and may be remembered.

Further files are the task's own.

A reader trusts nothing of this: files have limits (``LIMITS`` and ``Contents.further``) and no names but
these, every value of the description is judged by its type and size (``bundle_description``), a graph by its
operators and tensors (``graph_check``), and both together by a first batch (``smoke_test``).

Format 3 has no ``forms.onnx``: the one graph asks for all arrays itself. Format 2 is of taggers alone and
otherwise the same, format 1 has no ``forbidden``. All are read. A bundle is written whole or not at all, and
an earlier one is replaced only by a whole one (``gonie.system.atomic_folder``).
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
from gonie.runtime.bundle_description import check_about, parsed
from gonie.system.atomic_folder import backup_path, replace_folder
from gonie.version import __version__

FORMAT = 4
INDEX, GRAPH, FORMS = "bundle.json", "model.onnx", "forms.onnx"
LIMITS: Mapping[str, int] = {INDEX: 1 << 27, GRAPH: (1 << 31) - 1, FORMS: (1 << 31) - 1}
"""The most bytes that each file may have; ``Contents.further`` has those of a task."""


class Graphs(NamedTuple):
    """The serialised ONNX graph of an exported model, and where it has one that of its forms.

    What a model knows of a word by its letters alone does not change from sentence to sentence. The graph of
    ``forms`` gives it for U distinct forms: from ``chars`` (U, C), ``char_lengths`` (U,) and ``bytes``
    (U, L), as far as it asks for them, to ``spelled`` (U, F). The main graph then asks for ``spelled``.
    """

    graph: bytes
    forms: bytes | None = None


class Contents(Protocol):
    """What a bundle of one task holds, as plain values: the role that a task's frozen dataclass plays."""

    __dataclass_fields__: ClassVar[dict[str, Any]]
    task: ClassVar[str]
    """The name of the task."""
    further: ClassVar[Mapping[str, int]]
    """Its files beside the description and the graphs, and the most bytes that each may have."""

    @property
    def encoding(self) -> Any:
        """From texts to the arrays of a batch; its ``to_json`` is part of the description."""

    @property
    def graph(self) -> bytes:
        """The model (``Graphs``)."""

    @property
    def forms(self) -> bytes | None:
        """Its graph of forms."""

    @property
    def about(self) -> About:
        """What it says of itself."""

    def describe(self) -> dict[str, Any]:
        """The keys of the description that only bundles of this task have."""

    def files(self) -> dict[str, bytes]:
        """The content of each of its ``further`` files."""

    @classmethod
    def check(cls, index: Mapping[str, Any]) -> None:
        """Refuse, with a ``ValueError`` that names it, a value that no description of this task has."""

    @classmethod
    def read(cls, index: Mapping[str, Any], graphs: Graphs, files: Mapping[str, bytes]) -> Self:
        """From a checked description, graphs and further files; what is wrong is raised as it comes."""


Kinds = Mapping[str, type[Contents]]
"""The bundles that a reader knows, by their task."""


def write_bundle(folder: str | PathLike[str], bundle: Contents) -> None:
    """Write ``bundle`` as ``folder``, whole or not at all; an earlier bundle there is replaced."""
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
    """The further files of an earlier bundle there, perhaps of another task: it has the digest of each."""
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
            f"cannot write {folder}: expected a description of at most {LIMITS[INDEX]:,} bytes, got "
            f"{len(description):,}: too many words or features. Train with fewer word vectors "
            "(data.vectors_limit) or features (data.min_feature_count)."
        )
    try:
        index = parsed(description)
        check_about(index)
        kind.check(index)
    except ValueError as error:
        raise OutputError(
            f"cannot write {folder}: expected a bundle that can be read, got {error}."
        ) from error


def read_bundle(folder: str | PathLike[str], kinds: Kinds) -> Any:
    """Read and check the bundle in ``folder``, one of ``kinds``; anything wrong is a ``BundleError``."""
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
    """What the bundle in ``folder`` says of itself, without its graph; a damaged description is refused."""
    place = Path(folder)
    index = _read_index(place)
    try:
        check_about(index)
        return About.read(index)
    except _WRONG as error:
        raise _damaged(place, error) from error


_WRONG = (LookupError, TypeError, ValueError, AttributeError, ArithmeticError, RecursionError)
"""What comes of values that are not what they should be."""
_AGAIN = "Copy the bundle again, or export it again: gonie export MODEL --out DIR."


def _damaged(folder: Path, error: Exception) -> BundleError:
    what = str(error) if isinstance(error, ValueError | GonieError) else f"{type(error).__name__}: {error}"
    return BundleError(
        f"{folder / INDEX}: expected the keys of bundle format {FORMAT}, got a damaged file ({what}). "
        f"{_AGAIN}"
    )


def _read_index(folder: Path) -> dict[str, Any]:
    _check_folder(folder)
    try:
        index = parsed(_read(folder, INDEX))
    except ValueError as error:
        raise BundleError(
            f"{folder / INDEX}: expected JSON, got a damaged file ({error}). {_AGAIN}"
        ) from error
    found = index.get("format") if isinstance(index, dict) else None
    if not isinstance(found, int) or isinstance(found, bool) or found < 1:
        raise BundleError(
            f"{folder / INDEX}: expected a bundle's description, got JSON without its format. {_AGAIN}"
        )
    if found > FORMAT:
        raise BundleError(
            f"{folder}: expected bundle format {FORMAT} or lower, got {found}, written by gonie "
            f"{str(index.get('gonie'))[:40]}; this is gonie {__version__}. Do: pip install --upgrade gonie"
        )
    return dict(index)


def _kind(folder: Path, index: Mapping[str, Any], kinds: Kinds) -> type[Contents]:
    task = index.get("task")
    if not isinstance(task, str) or task not in kinds:
        raise BundleError(
            f"{folder}: expected a bundle that can {' or '.join(kinds)}, got one for the task "
            f"{repr(task)[:40]}. {_AGAIN}"
        )
    return kinds[task]


def _names(index: Mapping[str, Any], kind: type[Contents]) -> tuple[str, ...]:
    """The files beside the description: those of its kind, and no others whatever it says."""
    wanted = (GRAPH, *((FORMS,) if FORMS in index["files"] else ()), *kind.further)
    strange = sorted(set(index["files"]) - set(wanted))
    if strange:
        raise ValueError(f"files has {strange[0][:40]!r}, which is no file of a bundle")
    return wanted


def _check_folder(folder: Path) -> None:
    if folder.is_dir():
        return
    if backup_path(folder).is_dir() and not folder.exists():
        raise BundleError(
            f"{folder}: expected a bundle, got nothing: an export was stopped half-way. "
            f"Do: mv {backup_path(folder)} {folder}"
        )
    got = "a file" if folder.exists() else "nothing there"
    raise BundleError(f"{folder}: expected a bundle's folder, got {got}. Check the path.")


def _read_file(folder: Path, index: Mapping[str, Any], name: str, kind: type[Contents]) -> bytes:
    content = _read(folder, name, kind.further)
    if _digest(content) != index["files"][name]:
        raise BundleError(f"{folder}: {name} is not the file that was exported. {_AGAIN}")
    return content


def _read(folder: Path, name: str, further: Mapping[str, int] | None = None) -> bytes:
    limits = {**LIMITS, **(further or {})}
    try:
        found = os.stat(folder / name)
        if not stat.S_ISREG(found.st_mode):  # a pipe would never end
            raise BundleError(f"{folder / name}: expected a file, got something else. {_AGAIN}")
        if found.st_size > limits[name]:
            raise BundleError(
                f"{folder / name}: expected at most {limits[name]:,} bytes, got {found.st_size:,}. {_AGAIN}"
            )
        return (folder / name).read_bytes()
    except FileNotFoundError as error:
        wanted = ", ".join((INDEX, GRAPH, *(further or ())))
        raise BundleError(f"{folder}: expected a bundle with {wanted}, got no {name}. {_AGAIN}") from error
    except OSError as error:
        raise BundleError(f"{folder / name}: expected a readable file, got {error.strerror}.") from error


def _digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def _dump(index: Mapping[str, Any]) -> bytes:
    """JSON with one top-level key a line, so that the file opens with what a person looks for."""
    lines = (
        f"{json.dumps(key)}: {json.dumps(value, ensure_ascii=False, separators=(',', ':'), allow_nan=False)}"
        for key, value in index.items()
    )
    return ("{\n" + ",\n".join(lines) + "\n}\n").encode("utf-8")
