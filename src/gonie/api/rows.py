"""Examples in memory: lists, pandas and polars frames, PyArrow tables and Hugging Face datasets.

They are written as JSONL, so that training, resuming, scoring and messages have one code path. No library of
frames is imported: they are recognised by their methods.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Sized
from contextlib import contextmanager
from itertools import islice
from os import PathLike
from pathlib import Path
from typing import Any, TypeAlias, TypeGuard

from gonie.errors import GonieError, InputError
from gonie.formats.inspect import parse_tag_names
from gonie.formats.jsonl import json_line
from gonie.formats.pair_rows import LABELS, TEXTS, VALUES
from gonie.formats.tagged import FEW
from gonie.formats.tagged_csv import find_columns
from gonie.formats.tagged_rows import named_tags, own_text, sentence_record
from gonie.system.files import atomic_write, is_utf8, make_folder
from gonie.text.labelled_text import LabelledPair, LabelledText
from gonie.text.marks import with_marks
from gonie.text.types import Sentence

Data: TypeAlias = Any
"""A path, or examples in memory: an iterable of examples, or a frame, table or dataset of rows."""
Record: TypeAlias = dict[str, Any]
Names: TypeAlias = Mapping[str, Sequence[str]]
"""The names of integer labels, by column."""
WORDS = ("tokens", "words")
SPANS = ("spans", "entities", "ents")
SPLITS = ("train", "validation", "valid", "dev", "test")
"""The keys of a dictionary of splits, such as ``datasets.DatasetDict``."""
FRAME = ("to_dicts", "schema", "column_names", "columns")
"""Attributes of a frame, table or dataset, of which each has one."""
EXAMPLES = (Mapping, tuple, list, Sentence, LabelledText, LabelledPair)
"""The types of an example."""
UNUSABLE = (".", "=", "/", "\\")
"""Characters with a meaning of their own in ``--set data.train.NAME=FILE`` or in the path of a file."""


def is_path(data: Data) -> TypeGuard[str | PathLike[str]]:
    """Return whether ``data`` is the path of a file."""
    return isinstance(data, str | PathLike)


def is_named(data: Data) -> TypeGuard[Mapping[str, Data]]:
    """Return whether ``data`` is a mapping of domains to files or examples, not one of splits or columns."""
    if not isinstance(data, Mapping) or not data:
        return False
    if all(map(is_path, data.values())):
        return True
    return not {*SPLITS, *WORDS} & set(data) and not any(map(_is_column, data.values()))


def _is_column(data: Data) -> bool:
    """Return whether ``data`` is a list or array of cells. An iterator is not read: it has examples."""
    if is_path(data) or isinstance(data, Mapping) or any(hasattr(data, name) for name in FRAME):
        return False
    if not isinstance(data, Iterable) or not isinstance(data, Sized):
        return False
    return any(not isinstance(first, EXAMPLES) for first in islice(data, 1))


def check_domain(name: str, split: str) -> None:
    """Refuse the name of a domain that cannot be part of a recipe key and of a file name."""
    if not name or name != name.strip() or any(sign in name for sign in UNUSABLE):
        signs = " ".join(UNUSABLE)
        raise InputError(
            f"{split}: invalid domain name: {name!r}",
            fix=f"Use a name without spaces at its ends and without any of {signs}",
        )


def write_rows(
    data: Data,
    path: Path,
    *,
    task: str,
    columns: Mapping[str, Any],
    meta: Sequence[str] = (),
    part: str | None = None,
) -> None:
    """Write the examples of a task to ``path`` as JSONL, atomically.

    ``columns`` are the recipe's ``data`` keys that name columns: ``text_column``, ``tag_column`` and others.
    ``meta`` are the names of values of the examples to keep. ``part`` is the name of the data in messages,
    by default that of the file.
    """
    if task not in RECORDS:
        raise InputError(f"the task {task!r} trains on files only", fix="Pass a path")
    if columns.get("columns"):
        raise InputError("examples in memory have no further columns (data.columns)", fix="Pass a file")
    record, part = RECORDS[task], part or path.stem
    names, given = read_rows(data, part)
    rows = [_with_text_keys(row) for row in given]
    found = [record(row, names, columns, f"{part} row {number}") for number, row in enumerate(rows, start=1)]
    if meta:
        found = [{**_meta(row, meta), **own} for row, own in zip(rows, found, strict=True)]
    if not found:
        raise InputError(f"no rows in {part}", fix="Pass at least one example")
    if task == "classify":
        _check_order(rows, part)
    make_folder(path.parent)
    atomic_write(path, "".join(map(json_line, found)))


def _meta(row: Any, names: Sequence[str]) -> Record:
    """Return the named values of an example."""
    if isinstance(row, Mapping):
        inner = row.get("meta")
        values = {**(inner if isinstance(inner, Mapping) else {}), **row}
    else:
        values = getattr(row, "meta", {})
    return {name: _plain(values[name]) for name in names if name in values}


def _with_text_keys(row: Any) -> Any:
    """Return a row whose keys are texts. Columns of pandas may be numbers."""
    return {str(key): value for key, value in row.items()} if isinstance(row, Mapping) else row


def _check_order(rows: Sequence[Any], part: str) -> None:
    """Refuse pairs of a label and a text, in this order: the first values repeat, the second ones do not."""
    pairs = [
        row for row in rows if isinstance(row, tuple | list) and all(isinstance(each, str) for each in row)
    ]
    if len(pairs) < len(rows) or len(rows) < FEW:
        return
    first, second = (len(set(column)) for column in zip(*pairs, strict=True))
    if 2 * first <= len(rows) < 2 * second:
        raise InputError(
            f"{part}: the labels seem to come first: {_shown(rows[0])}", fix="Pass (text, label)"
        )


@contextmanager
def row_messages(files: Mapping[str, str | PathLike[str]]) -> Iterator[None]:
    """Name rows in messages of errors: ``train row 3``, not a line of the file they were written to."""
    try:
        yield
    except GonieError as error:
        message = str(error)
        for name, file in files.items():
            path = re.escape(str(file))
            message = re.sub(rf"{path}:(\d+)", rf"{name} row \1", message)
            message = re.sub(path, name, message)
        error.args = (message, *error.args[1:])
        raise


def read_rows(data: Data, part: str) -> tuple[Names, Iterable[Any]]:
    """Return the names of integer labels, and the rows: mappings, tuples or examples.

    ``part`` is the name of the data in messages.
    """
    kind = type(data).__name__
    if isinstance(data, Mapping):
        keys = ", ".join(map(str, data)) or "none"
        raise InputError(
            f"{part}: a {kind} is not a list of examples; its keys: {keys}", fix="Pass one of its values"
        )
    if hasattr(data, "collect_schema") and hasattr(data, "collect") and not hasattr(data, "to_dicts"):
        raise InputError(f"{part}: a lazy frame has no rows yet", fix="Pass frame.collect()")
    if hasattr(data, "features") and hasattr(data, "column_names"):  # datasets.Dataset
        return _dataset_names(data.features), data
    if hasattr(data, "to_pylist") and hasattr(data, "schema"):  # pyarrow.Table
        return _arrow_names(data.schema.metadata or {}), data.to_pylist()
    if hasattr(data, "to_dicts"):  # polars.DataFrame
        return {}, data.to_dicts()
    if hasattr(data, "to_dict") and hasattr(data, "columns"):  # pandas.DataFrame
        return {}, data.to_dict(orient="records")
    if not isinstance(data, Iterable):
        raise InputError(
            f"{part}: cannot read examples from {kind}",
            fix="Pass a path, a list of examples or a frame",
        )
    return {}, data


def _dataset_names(features: Mapping[str, Any]) -> Names:
    """Return the names of ``ClassLabel`` columns, and of lists of them."""
    inner = ((name, getattr(feature, "feature", feature)) for name, feature in features.items())
    return {name: feature.names for name, feature in inner if getattr(feature, "names", None)}


def _arrow_names(metadata: Mapping[bytes, bytes]) -> Names:
    """Return the names that ``datasets`` stores in the schema of a table."""
    try:
        features = json.loads(metadata[b"huggingface"])["info"]["features"]
        inner = {name: feature.get("feature", feature) for name, feature in features.items()}
        return {name: each["names"] for name, each in inner.items() if each.get("_type") == "ClassLabel"}
    except (KeyError, ValueError, TypeError, AttributeError):
        return {}


# --- records of each task --------------------------------------------------------------------------------


def _tag_record(row: Any, names: Names, columns: Mapping[str, Any], place: str) -> Record:
    """Return a tagged sentence, or a text with spans, as an object of the format jsonl."""
    if isinstance(row, Sentence):
        if row.tags is None:
            raise InputError(f"{place}: sentence without tags")
        return _sentence_record(row, place)
    if isinstance(row, list) and row and all(_is_tagged_word(each) for each in row):  # as NLTK has sentences
        own_words, own_tags = zip(*row, strict=True)
        return _sentence_record(Sentence(own_words, own_tags), place)
    if isinstance(row, tuple | list) and len(row) == 2:
        first, second = _plain(row[0]), _plain(row[1])
        if isinstance(first, str) and isinstance(second, dict):  # (text, {"entities": […]})
            return _tag_record({"text": first, **second}, names, columns, place)
        if isinstance(first, list) and isinstance(second, list):
            own = {**columns, "tag_column": "tags"}
            return _tag_record({"tokens": first, "tags": second}, names, own, place)
    if isinstance(row, Mapping):
        record = {key: _plain(value) for key, value in row.items()}
        if isinstance(record.get("text"), str) and any(key in record for key in (*SPANS, "tokens")):
            return {key: record[key] for key in ("text", "tokens", *SPANS) if record.get(key) is not None}
        words = next((key for key in WORDS if isinstance(record.get(key), list)), None)
        if words is not None:
            tags = _tag_column(record, words, columns.get("tag_column"), place)
            known = parse_tag_names(columns.get("tag_names") or names.get(tags, ()))
            given = _tag_names(record[tags], known, tags, place)
            return _sentence_record(Sentence(tuple(map(str, record[words])), tuple(given)), place)
        if (token := find_columns(list(record))) is not None and token.tag is not None:
            raise InputError(
                f"{place}: one token per row, not a sentence: {_shown(row)}",
                fix="Pass the path of the CSV file, or gonie.read(path)",
            )
    raise InputError(
        f"{place}: not a tagged sentence: {_shown(row)}",
        fix='Pass gonie.Sentence(words, tags), (words, tags), or a row with "tokens" and "tags", or with '
        '"text" and "spans"',
    )


def _is_tagged_word(value: Any) -> bool:
    return isinstance(value, tuple) and len(value) == 2 and all(isinstance(each, str) for each in value)


def _tag_names(tags: Sequence[Any], names: Sequence[str], column: str, place: str) -> list[str]:
    """Return tags as they are, or the names of numbers."""
    if not any(type(tag) is int for tag in tags):
        return list(map(str, tags))
    return named_tags(tags, names, column=column, path=place)


def _tag_column(record: Record, words: str, asked: Any, place: str) -> str:
    """Return the column of the tags: the one asked for, or the only list that is as long as the words."""
    if isinstance(asked, str):
        if not isinstance(record.get(asked), list):
            raise InputError(f"{place}: no list of tags under {asked!r}", fix=f"Columns: {', '.join(record)}")
        return asked
    fitting = [
        key
        for key, value in record.items()
        if key != words and isinstance(value, list) and len(value) == len(record[words])
    ]
    if len(fitting) != 1:
        what = f"several columns may be the tags: {', '.join(fitting)}" if fitting else "no column of tags"
        example = fitting[-1] if fitting else "tags"
        raise InputError(
            f"{place}: {what}", fix=f"Name it: --tag-column {example} (in a recipe data.tag_column)"
        )
    return fitting[0]


def _sentence_record(sentence: Sentence, place: str) -> Record:
    """Return a sentence as its text, and its tokens by offset, which keep any word and any tag as it is.

    A sentence with gold spans that its tags cannot express is one that gonie has read, with IOB2 tags.
    """
    _refuse_vectors(sentence, place)
    tags = sentence.tags or ()
    if len(tags) != len(sentence.words):
        raise InputError(
            f"{place}: expected one tag per word, got {len(sentence.words)} words, {len(tags)} tags"
        )
    if (not sentence.words and not sentence.unreachable) or not all(sentence.words):
        raise InputError(f"{place}: {'empty word' if sentence.words else 'sentence without words'}")
    if broken := [part for part in (*sentence.words, *tags) if not is_utf8(part)]:
        raise InputError(f"{place}: lone surrogate in {broken[0]!r}")
    if sentence.text is not None:
        sentence = own_text(sentence)
    if sentence.unreachable:
        return sentence_record([sentence])
    tokens = [
        {"start": start, "end": end, "tag": tag}
        for (start, end), tag in zip(sentence.offsets(), tags, strict=True)
    ]
    return {"text": sentence.surface, "tokens": tokens}


def _text_record(row: Any, names: Names, columns: Mapping[str, Any], place: str) -> Record:
    """Return a labelled text as an object with the columns of the recipe."""
    text, label = columns.get("text_column") or "text", columns.get("label_column") or "label"
    if isinstance(row, LabelledText):
        _refuse_vectors(row, place)
        labels = list(row.labels)
        return {
            text: with_marks(row.text, row.marks),
            label: labels[0] if len(labels) == 1 else labels or None,
        }
    if isinstance(row, tuple | list) and len(row) == 2 and isinstance(row[0], str):
        return {text: row[0], label: _plain(row[1])}
    if isinstance(row, Mapping) and text in row:
        wanted = (text, label, f"{label}s")
        return {key: _named(_plain(row[key]), names.get(key)) for key in wanted if key in row}
    _refuse_columns(row, text, "data.text_column", place)
    raise InputError(
        f"{place}: not a labelled text: {_shown(row)}",
        fix=f'Pass gonie.LabelledText(text, labels), (text, label), or a row with "{text}" and "{label}"',
    )


def _refuse_vectors(example: Sentence | LabelledText, place: str) -> None:
    """Refuse an example with external vectors, which belong in a file of their own."""
    if example.vectors is not None:
        raise InputError(
            f"{place}: external vectors of examples in memory are not read",
            fix="Save them in order (numpy.savez) and name the file: model.external.train, .dev or .test in "
            "training, vectors=FILE in gonie.evaluate",
        )


def _pair_record(row: Any, names: Names, columns: Mapping[str, Any], place: str) -> Record:
    """Return a labelled pair as an object with the columns of the recipe."""
    first, second = columns.get("text_columns") or TEXTS[0]
    label, value = columns.get("label_column"), columns.get("value_column")
    if isinstance(row, LabelledPair):
        answer = {label or LABELS[0]: row.labels[0]} if row.labels else {value or VALUES[0]: row.value}
        return {first: row.first, second: row.second, **answer}
    if isinstance(row, tuple | list) and len(row) == 3:
        key = (value or VALUES[0]) if isinstance(row[2], float) else (label or LABELS[0])
        return {first: row[0], second: row[1], key: _plain(row[2])}
    if isinstance(row, Mapping):
        known = {name for pair in TEXTS for name in pair} | {*LABELS, *VALUES, first, second, label, value}
        record = {key: _named(_plain(each), names.get(key)) for key, each in row.items() if key in known}
        if len(record) > 2:
            return record
        _refuse_columns(row, first, "data.text_columns", place)
    raise InputError(
        f"{place}: not a labelled pair: {_shown(row)}",
        fix='Pass (text, text_pair, label), or a row with "text", "text_pair" and "label"',
    )


RECORDS: dict[str, Callable[[Any, Names, Mapping[str, Any], str], Record]] = {
    "tag": _tag_record,
    "classify": _text_record,
    "pair": _pair_record,
}
"""Makes the record of an example in memory, by the name of its task."""


def _refuse_columns(row: Any, text: str, key: str, place: str) -> None:
    if isinstance(row, Mapping):
        raise InputError(
            f"{place}: no column {text!r}; the columns are {', '.join(map(str, row))}",
            fix=f"Name the column: --text NAME (in a recipe {key})",
        )


def _named(value: Any, names: Sequence[str] | None) -> Any:
    """Return the name of an integer label, or of each label of a list."""
    if names is None:
        return value
    if isinstance(value, list):
        return [_named(each, names) for each in value]
    return names[value] if isinstance(value, int) and 0 <= value < len(names) else None


def _plain(value: Any) -> Any:
    """Return a cell as a JSON value. NaN is None. Whole floats are ints, as before NaN came into a column."""
    if isinstance(value, str | bool | int | None):
        return value
    if isinstance(value, float):
        return None if math.isnan(value) else int(value) if value.is_integer() else value
    if isinstance(value, Mapping):
        return {str(key): _plain(each) for key, each in value.items()}
    if isinstance(value, list | tuple | set | frozenset):
        return [_plain(each) for each in value]
    if hasattr(value, "tolist"):  # numpy arrays and scalars
        return _plain(value.tolist())
    return None if type(value).__name__ in ("NAType", "NaTType") else str(value)


def _shown(row: Any) -> str:
    shown = repr(row)
    return shown if len(shown) <= 120 else f"{shown[:120]}…"
