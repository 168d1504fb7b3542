"""External vectors: one for each token, sentence or text, from a file that something else has made.

Pictures, speech, knowledge bases or another model are turned into vectors outside of gonie. A file of them
belongs to a labelled file. It is an ``.npz`` (arrays as numpy saves them, never pickled) or a Parquet file
with a column of lists of numbers. Its rows are in the order of the labelled file, or named by the ids of its
texts. They are attached to the sentences or texts as these are read (``Sentence.vectors``), so that they stay
with them however the examples are then split, sampled or cut.
"""

from __future__ import annotations

import zipfile
import zlib
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate, groupby
from os import PathLike
from pathlib import Path
from typing import Any, Literal, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from gonie.errors import InputError
from gonie.system.files import display, unreadable
from gonie.system.parquet import SUFFIX, import_parquet
from gonie.text.labelled_text import LabelledText
from gonie.text.report import count
from gonie.text.types import Sentence

WIDEST_VECTOR = 1 << 14
"""The most numbers of a vector."""
NPZ = ".npz"
SHOWN = 8
"""Names of arrays or columns that a message lists."""
Per: TypeAlias = Literal["token", "text"]
"""What a row of a file belongs to. A sentence of a file with one sentence per example is a text."""
Floats: TypeAlias = NDArray[np.float32]


class VectorOptions(NamedTuple):
    """How to read files of vectors.

    ``array`` and ``ids`` are the names of an array in ``.npz``, or of a column in Parquet. Without ``array``,
    the file must have a single candidate. Without ``ids``, rows are in the order of the labelled file.
    """

    per: Per
    array: str | None = None
    ids: str | None = None

    @classmethod
    def of_recipe(cls, recipe: Mapping[str, Any], per: Per) -> VectorOptions:
        """Return the options of a model, given its recipe as plain values and the default of its task."""
        model = recipe.get("model")
        given = model.get("external") if isinstance(model, dict) else None
        own = given if isinstance(given, dict) else {}
        named = own.get("per")
        return cls(named if named in ("token", "text") else per, own.get("array"), own.get("ids"))


@dataclass(frozen=True)
class VectorFile:
    """The vectors of a file (R, D), and the id of the text of each row, if rows are named."""

    path: str
    vectors: Floats
    per: Per
    ids: tuple[str, ...] | None = None

    @property
    def width(self) -> int:
        """D, the numbers of a vector."""
        return int(self.vectors.shape[1])

    def __str__(self) -> str:
        rows = count(len(self.vectors), "vector")
        order = "in the order of the file" if self.ids is None else "named by ids"
        return f"{self.path}: {rows} of {self.width:,} numbers, one for each {self.per}, {order}"

    def attach(self, sentences: Iterable[Sentence]) -> Iterator[Sentence]:
        """Yield the sentences of its labelled file with their vectors.

        The sentences of one text follow one another. A file that does not have exactly one row for each
        token, or text, is refused.
        """
        rows = VectorRows(self)
        for _, group in groupby(sentences, _text_of):
            yield from rows.give(list(group))
        rows.finish()

    def rows(self) -> VectorRows:
        """Return its rows, to hand them out to texts one by one."""
        return VectorRows(self)

    def attach_texts(self, texts: Iterable[LabelledText]) -> Iterator[LabelledText]:
        """Yield the texts of its labelled file with their vectors, one for each."""
        rows = VectorRows(self)
        yield from map(rows.give_text, texts)
        rows.finish()


_ADVICE = (
    "Check that the two files belong together. If gonie skips examples of the file, name the rows by ids "
    "(model.external.ids)"
)


def _text_of(sentence: Sentence) -> Hashable:
    """Return what the sentences of one text have in common."""
    return sentence.path, sentence.line, sentence.id, sentence.text


class VectorRows:
    """Hands out the rows of a file to the texts of its labelled file, one after the other."""

    def __init__(self, file: VectorFile) -> None:
        self._file = file
        self._ranges = None if file.ids is None else _ranges(file, file.ids)
        self._at = 0  # rows handed out
        self._last: Sentence | LabelledText | None = None

    def give(self, sentences: Sequence[Sentence]) -> list[Sentence]:
        """Return all sentences of the next text with their vectors."""
        vectors = self._take(sentences[0], sum(map(len, sentences)))
        return _divided(sentences, vectors[0] if self._file.per == "text" else vectors)

    def give_text(self, text: LabelledText) -> LabelledText:
        """Return the next text with its vector."""
        return replace(text, vectors=self._take(text, 1)[0])

    def _take(self, text: Sentence | LabelledText, tokens: int) -> Floats:
        """Return the rows of a text of so many tokens: one row, or one for each token."""
        wanted = 1 if self._file.per == "text" else tokens
        self._last = text
        if self._ranges is not None:
            return self._named(text, wanted, self._ranges)
        found = self._file.vectors[self._at : self._at + wanted]
        if len(found) < wanted:
            raise InputError(
                f"{count(len(self._file.vectors), 'vector')}, but {text.path} needs more, one for each "
                f"{self._file.per} that gonie reads: they end in the text at line {text.line:,}",
                path=self._file.path,
                fix=_ADVICE,
            )
        self._at += wanted
        return found

    def _named(self, text: Sentence | LabelledText, wanted: int, ranges: Mapping[str, range]) -> Floats:
        if text.id is None:
            raise InputError(
                f"a text without an id, but the rows of {self._file.path} are named by ids",
                path=text.path or None,
                line=text.line or None,
                fix="Give every text an id, or put the rows in order and leave model.external.ids out",
            )
        own = ranges.get(str(text.id))
        if own is None:
            raise InputError(
                f"no row for the id {str(text.id)!r} of {text.path}, line {text.line:,}",
                path=self._file.path,
                fix="Write the vectors of every text",
            )
        if len(own) != wanted:
            raise InputError(
                f"{count(len(own), 'row')} for the id {str(text.id)!r}, from row {own.start + 1:,}; the text "
                f"has {count(wanted, self._file.per)} ({text.path}, line {text.line:,})",
                path=self._file.path,
                fix=f"Write one row for each {self._file.per} that gonie reads",
            )
        return self._file.vectors[own.start : own.stop]

    def finish(self) -> None:
        """Refuse rows in order that are left over after the last text."""
        left = len(self._file.vectors) - self._at
        if self._ranges is None and left:
            place = self._last.path if self._last is not None else "its file"
            raise InputError(
                f"{count(len(self._file.vectors), 'vector')}, but {place} needs {self._at:,}, one for each "
                f"{self._file.per} that gonie reads: row {self._at + 1:,} is left over",
                path=self._file.path,
                fix=_ADVICE,
            )


def _divided(sentences: Sequence[Sentence], vectors: Floats) -> list[Sentence]:
    """Return the sentences of a text with the vector of the text (D,), or those of its tokens (T, D)."""
    if vectors.ndim == 1:
        return [replace(sentence, vectors=vectors) for sentence in sentences]
    ends = list(accumulate(map(len, sentences)))
    return [
        replace(sentence, vectors=vectors[end - len(sentence) : end])
        for sentence, end in zip(sentences, ends, strict=True)
    ]


def _ranges(file: VectorFile, ids: tuple[str, ...]) -> dict[str, range]:
    """Return the rows of each id. Those of one id must follow one another."""
    found: dict[str, range] = {}
    start = 0
    for name, group in groupby(ids):
        end = start + sum(1 for _ in group)
        if name in found or (file.per == "text" and end - start > 1):
            again = start + 1 if name in found else start + 2
            together = "" if file.per == "text" else ", apart from its other rows"
            raise InputError(
                f"row {again:,} has the id {name!r} again{together}",
                path=file.path,
                fix="Write one row for each text"
                if file.per == "text"
                else "Put the rows of each text together",
            )
        found[name] = range(start, end)
        start = end
    return found


# --- reading ---------------------------------------------------------------------------------------------


def read_vector_file(path: str | PathLike[str], options: VectorOptions) -> VectorFile:
    """Read a file of vectors. A file that is damaged, or whose numbers are not finite, is refused."""
    name = display(path)
    place = Path(path)
    read = {NPZ: _read_npz, SUFFIX: _read_parquet}.get(place.suffix.lower())
    if read is None:
        raise InputError(
            f"not a file of vectors: it ends in {place.suffix or 'nothing'!r}",
            path=name,
            fix="Save the vectors with numpy.savez as .npz, or as a Parquet column of lists",
        )
    vectors, ids = read(place, name, options)
    if not len(vectors):
        raise InputError("no vectors in the file", path=name)
    if not 0 < vectors.shape[1] <= WIDEST_VECTOR:
        raise InputError(
            f"vectors of {vectors.shape[1]:,} numbers; they must have from 1 to {WIDEST_VECTOR:,}", path=name
        )
    with np.errstate(over="ignore"):
        found = vectors.astype(np.float32, copy=False)
    broken = np.flatnonzero(~np.isfinite(found).all(axis=1))
    if len(broken):
        raise InputError(
            f"row {broken[0] + 1:,} has a number that is NaN, infinite or larger than float32 holds "
            f"({count(len(broken), 'row')} in all)",
            path=name,
            fix="Write a finite vector for each row, for example zeros where there is none",
        )
    if ids is not None and len(ids) != len(found):
        raise InputError(f"{len(found):,} rows of vectors, but {len(ids):,} ids", path=name)
    return VectorFile(name, found, options.per, ids)


_DAMAGED = (zipfile.BadZipFile, zlib.error, MemoryError, NotImplementedError)


def _read_npz(
    path: Path, name: str, options: VectorOptions
) -> tuple[NDArray[np.floating | np.integer], tuple[str, ...] | None]:
    """Return the vectors of an ``.npz`` file, and its ids. Pickled arrays are never read."""
    try:
        with path.open("rb") as file:
            if not zipfile.is_zipfile(file):
                raise InputError("not an .npz file", path=name, fix="Save the vectors with numpy.savez")
        with np.load(path, allow_pickle=False) as saved:
            arrays = {key: _array(saved, key, name) for key in _wanted(saved.files, name, options)}
    except InputError:
        raise
    except OSError as error:
        raise unreadable(path, error) from None
    except (*_DAMAGED, ValueError, EOFError, KeyError) as error:
        reason = (str(error).splitlines() or [type(error).__name__])[0]
        raise InputError(
            f"damaged .npz file: {reason.rstrip('.')}",
            path=name,
            fix="Save it again with numpy.savez",
        ) from None
    ids = None if options.ids is None else arrays.pop(options.ids)
    return _chosen(arrays, name), None if ids is None else _id_texts(ids, name, options.ids or "")


def _wanted(names: Iterable[str], path: str, options: VectorOptions) -> list[str]:
    """Return the arrays to read: those that are named, or all."""
    known = list(names)
    if missing := [name for name in (options.array, options.ids) if name is not None and name not in known]:
        raise InputError(
            f"no array {missing[0]!r}; it has {', '.join(known[:SHOWN]) or 'none'}",
            path=path,
            fix="Name an array of the file: model.external.array, and model.external.ids for ids",
        )
    return (
        known if options.array is None else [name for name in known if name in (options.array, options.ids)]
    )


def _array(saved: Any, key: str, path: str) -> NDArray[Any]:
    try:
        found: NDArray[Any] = saved[key]
    except ValueError as error:
        if "pickle" not in str(error).lower():
            raise
        raise InputError(
            f"the array {key!r} holds Python objects, which are never loaded because they could run code",
            path=path,
            fix="Save numbers: numpy.savez(path, vectors=array.astype('float32'))",
        ) from None
    if not isinstance(found, np.ndarray):  # the bytes of an entry that is no array
        raise InputError(f"{key!r} is no array", path=path, fix="Save it again with numpy.savez")
    return found


def _chosen(arrays: Mapping[str, NDArray[Any]], path: str) -> NDArray[Any]:
    """Return the only array that can be a table of vectors."""
    tables = [name for name, own in arrays.items() if own.ndim == 2 and own.dtype.kind in "fiu"]
    if len(tables) == 1:
        return arrays[tables[0]]
    shapes = ", ".join(f"{name} {own.dtype} {own.shape}" for name, own in list(arrays.items())[:SHOWN])
    if tables:
        raise InputError(
            f"several arrays may be the vectors: {', '.join(tables[:SHOWN])}",
            path=path,
            fix=f"Name one: model.external.array={tables[0]}",
        )
    raise InputError(
        f"no array of vectors, one row for each token or text: {shapes or 'the file has no arrays'}",
        path=path,
        fix="Save an array of numbers with two axes (rows, numbers)",
    )


def _id_texts(ids: NDArray[Any], path: str, name: str) -> tuple[str, ...]:
    if ids.ndim != 1 or ids.dtype.kind not in "iuU":
        raise InputError(
            f"the array {name!r} holds no ids: {ids.dtype} {ids.shape}",
            path=path,
            fix="Save a list of strings or whole numbers, one for each row",
        )
    return tuple(map(str, ids.tolist()))


def _read_parquet(
    path: Path, name: str, options: VectorOptions
) -> tuple[NDArray[Any], tuple[str, ...] | None]:
    """Return the vectors of a column of lists, all of one length, and the ids of another column."""
    parquet = import_parquet(extra="train", purpose="reading Parquet")
    try:
        with parquet.ParquetFile(path) as table:
            column = _column(table.schema_arrow, name, options)
            read = table.read(columns=[column, *([options.ids] if options.ids else [])])
    except InputError:
        raise
    except OSError as error:
        raise unreadable(path, error) from None
    except ValueError as error:  # ArrowInvalid
        raise InputError(
            f"damaged Parquet file: {str(error).splitlines()[0].rstrip('.')}", path=name, fix="Write it again"
        ) from None
    ids = None
    if options.ids:
        texts = read.column(options.ids).to_pylist()
        if None in texts:
            raise InputError(f"row {texts.index(None) + 1:,} has no id in {options.ids!r}", path=name)
        ids = tuple(map(str, texts))
    return _lists(read.column(column).combine_chunks(), name), ids


def _column(schema: Any, path: str, options: VectorOptions) -> str:
    """Return the name of the column of vectors."""
    lists = [field.name for field in schema if _is_list(field.type)]
    known = ", ".join(f"{field.name} ({field.type})" for field in list(schema)[:SHOWN]) or "no columns"
    missing = [each for each in (options.array, options.ids) if each is not None and each not in schema.names]
    if missing:
        raise InputError(
            f"no column {missing[0]!r}; it has {known}",
            path=path,
            fix="Name a column of the file: model.external.array, and model.external.ids for ids",
        )
    if options.array is not None:
        if options.array not in lists:
            raise InputError(f"the column {options.array!r} holds no lists of numbers: {known}", path=path)
        return options.array
    if len(lists) == 1:
        return str(lists[0])
    if not lists:
        raise InputError(f"no column of lists of numbers: {known}", path=path, fix="Write a column of lists")
    raise InputError(
        f"several columns may be the vectors: {', '.join(lists[:SHOWN])}",
        path=path,
        fix=f"Name one: model.external.array={lists[0]}",
    )


def _is_list(kind: Any) -> bool:
    value = getattr(kind, "value_type", None)
    is_list = str(kind).startswith(("list<", "large_list<", "fixed_size_list<"))
    return (is_list and str(value) in ("halffloat", "float", "double")) or (
        is_list and str(value).removeprefix("u").startswith("int")
    )


def _lists(column: Any, path: str) -> NDArray[Any]:
    """Return the lists of a column as a table."""
    lengths = np.array([-1 if each is None else each for each in column.value_lengths().to_pylist()])
    if not len(lengths):
        return np.zeros((0, 1), dtype=np.float32)
    width = int(lengths[0])
    wrong = np.flatnonzero((lengths != width) | (lengths < 0))
    if len(wrong):
        row = int(wrong[0])
        numbers = f"{count(int(lengths[row]), 'number')}, and the first row has {width:,}"
        found = "no vector" if lengths[row] < 0 else numbers
        raise InputError(f"row {row + 1:,} has {found}", path=path, fix="Write vectors of one width")
    values = column.flatten()
    if values.null_count:
        row = next(at for at, value in enumerate(values.to_pylist()) if value is None) // max(width, 1)
        raise InputError(f"row {row + 1:,} has a missing number", path=path, fix="Write every number")
    return np.asarray(values.to_numpy(zero_copy_only=False)).reshape(len(lengths), width)


# --- vectors at prediction -------------------------------------------------------------------------------


def open_for_model(
    path: str | PathLike[str], *, width: int, recipe: Mapping[str, Any], per: Per
) -> VectorFile:
    """Read the vectors of a file for a model that reads vectors of this width (0: none).

    ``recipe`` is that of the model, and ``per`` the default of its task.
    """
    refuse_unread(width)
    found = read_vector_file(path, VectorOptions.of_recipe(recipe, per))
    if found.width != width:
        raise InputError(
            f"vectors of {found.width:,} numbers, but the model was trained with {width:,}",
            path=found.path,
            fix="Compute them as those of the training file",
        )
    return found


def refuse_unread(width: int) -> None:
    """Refuse vectors for a model that reads none (width 0)."""
    if not width:
        raise InputError("the model reads no external vectors", fix="Leave the vectors out")


def with_vectors(sentences: Sequence[Sentence], vectors: Any, width: int) -> list[Sentence]:
    """Return the sentences of a text with its vectors: one for the text (D,), or one per word (T, D)."""
    refuse_unread(width)
    return _divided(sentences, _checked(vectors, sum(map(len, sentences)), width))


def checked_vector(vector: Any, width: int) -> Floats:
    """Return the given vector of a text (D,), or raise an error if the model does not read such a vector."""
    refuse_unread(width)
    found = _checked(vector, 1, width)
    return found.reshape(width)


def check_vectors(sentence: Sentence, width: int) -> Floats:
    """Return the vectors of a sentence for a model that reads them: (T, D), or (1, D) for all its words."""
    place: dict[str, Any] = {"path": sentence.path or None, "line": sentence.line or None}
    if sentence.vectors is None:
        raise InputError(
            f"the model reads external vectors, and this text has none: {sentence.surface[:60]!r}",
            **place,
            fix="Pass them: vectors=… in Python, --vectors FILE with gonie evaluate, tag and classify",
        )
    return _checked(sentence.vectors, len(sentence), width, **place).reshape(-1, width)


def _checked(given: Any, tokens: int, width: int, **place: Any) -> Floats:
    """Return given vectors as an array, or raise an error if they are not finite or have another shape."""
    try:
        found = np.asarray(given, dtype=np.float32)
    except (TypeError, ValueError):
        what = f"not vectors of numbers: {given!r}"[:200]
        raise InputError(what, **place, fix="Pass a numpy array") from None
    if found.shape not in ((width,), (tokens, width)):
        shapes = f"({width},) for the whole text or ({tokens}, {width}) for its words"
        raise InputError(f"expected vectors of shape {shapes}, got {found.shape}", **place)
    if not np.isfinite(found).all():
        raise InputError("vectors with NaN or infinite numbers", **place, fix="Pass finite numbers")
    return found
