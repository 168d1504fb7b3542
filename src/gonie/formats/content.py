"""The content of a file that is being read, and its beginning, by which its format is recognised."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain, islice, takewhile
from os import PathLike
from pathlib import Path
from typing import Any

from gonie.errors import InputError
from gonie.system.files import Line, display, is_stream, lines, open_bytes
from gonie.text.units import is_korean

PEEK = 200
"""The number of first lines by which a format is recognised."""
MAGIC = 1024
"""The number of first bytes by which a binary format is recognised."""
_DOCUMENT = re.compile(r'\s*(\{\s*($|["}])|\[\s*($|[{"\]\d]|\[\s*($|")))')
ID = "id"
"""The key and the column of ids."""
_CELLS = re.compile(r"[\t ,]+")
_BINARY = (
    *(b"PAR1", b"ARROW1", b"\xff\xff\xff\xff", b"PK\x03\x04", b"\x1f\x8b", b"SQLite", b"%PDF"),
    *(b"\x80\x03", b"\x80\x04", b"\x80\x05"),  # pickle
    *(b"\x78\x01", b"\x78\x5e", b"\x78\x9c", b"\x78\xda"),  # zlib
)
"""The first bytes of binary formats."""


@dataclass(frozen=True)
class FileHead:
    """The beginning of a file: its first lines, or the first bytes of a binary file, or nothing of a folder.

    ``document`` is the value of a file that is one JSON value. ``columns`` are columns that the user named;
    those of a labelled text come first the text, then the labels.
    """

    path: str
    lines: Sequence[str] = ()
    magic: bytes = b""
    document: Any = None
    columns: Sequence[str] = ()

    @cached_property
    def filled(self) -> Sequence[str]:
        """The first lines that are not empty."""
        return [line for line in self.lines if line.strip()]

    @cached_property
    def record(self) -> Mapping[str, Any] | None:
        """The JSON object of the first line, or None."""
        first = self.filled[0] if self.filled else ""
        return _parsed_object(first) if _DOCUMENT.match(first) else None

    @cached_property
    def records(self) -> Sequence[Mapping[str, Any]]:
        """The JSON objects of the first lines, up to a line that is none."""
        found = (_parsed_object(line) for line in self.filled) if self.record is not None else ()
        return [value for value in takewhile(lambda value: value is not None, found) if value is not None]

    @cached_property
    def is_korean(self) -> bool:
        """Whether most letters of JSON texts, or some cell of most lines, are Hangul."""
        values = self.records if self.document is None else self.document
        if values:
            return is_korean(_strings(values))
        lines = [line for line in self.filled if any(map(str.isalpha, line))]
        return 2 * sum(any(is_korean([cell]) for cell in _CELLS.split(line)) for line in lines) > len(lines)

    @property
    def is_json(self) -> bool:
        """Whether the first line begins a JSON object or list."""
        return bool(self.filled) and _DOCUMENT.match(self.filled[0]) is not None

    @property
    def folder(self) -> Path | None:
        """The folder, or None if this is a file."""
        return Path(self.path) if self.path and Path(self.path).is_dir() else None


@dataclass(frozen=True)
class Content:
    """A file or folder that is being read. ``lines`` can be iterated once."""

    path: Path
    head: FileHead
    lines: Iterator[Line]


def open_content(path: str | PathLike[str], *, columns: Sequence[str] = ()) -> Content:
    """Open a file, a folder or a stream. ``columns`` are columns that the user named. Refuse an empty file.

    A JSON document is read as a whole. Only the beginning of any other file is read before its lines are.
    """
    name = display(path)
    if not is_stream(path) and Path(path).is_dir():
        return Content(Path(path), FileHead(name, columns=columns), lines(path))
    magic = b"" if is_stream(path) else _magic(path)
    if magic:
        return Content(Path(path), FileHead(name, magic=magic, columns=columns), lines(path))
    content = lines(path)
    first = list(islice(content, PEEK))
    if not first:
        raise InputError("the file is empty", path=name)
    document = None
    if _begins_document(first):
        first += content
        document = _document(first, name)
    if document is None and len(first) == 1 and "\r" in first[0][1]:
        raise InputError(
            "the lines end in CR alone, as on old Macintosh computers",
            path=name,
            fix="Convert the line ends: tr '\\r' '\\n' < OLD > NEW",
        )
    head = FileHead(name, [text for _, text in first[:PEEK]], document=document, columns=columns)
    return Content(Path(path), head, chain(first, content))


def _magic(path: str | PathLike[str]) -> bytes:
    """Return the first bytes of a file in a binary format, or nothing if it seems to be text."""
    with open_bytes(path) as file:
        first = file.read(MAGIC)
    return first if first.startswith(_BINARY) else b""


def _begins_document(first: Sequence[Line]) -> bool:
    """Return whether the file may be one JSON value, and not one object per line."""
    filled = [text for _, text in first if text.strip()]
    if not filled or not _DOCUMENT.match(filled[0]):
        return False
    return len(filled) == 1 or _parsed_object(filled[0]) is None


def _document(all_lines: Sequence[Line], name: str) -> Any:
    """Return the JSON value of all lines, or None if they seem to be something else."""
    text = "\n".join(line for _, line in all_lines)
    try:
        return json.loads(text)
    except json.JSONDecodeError as error:
        objects = sum(line.lstrip().startswith("{") for _, line in all_lines)
        if 2 * objects > len(all_lines) or error.pos <= len(all_lines[0][1]) + 2:
            return None  # lines with an object each, or text that begins with a bracket
        raise InputError(
            f"invalid JSON: {error.msg}", path=name, line=error.lineno, fix="Export the file again"
        ) from None
    except (ValueError, RecursionError):  # a number with too many digits, or too many brackets
        return None


def id_of(record: Mapping[str, Any]) -> str | int | None:
    """Return the id of a JSON object or a row, or None if it has none."""
    value = record.get(ID)
    return value if isinstance(value, str) or type(value) is int else None


def _strings(value: Any) -> Iterator[str]:
    """Yield the texts in a JSON value, not the keys."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        yield from chain.from_iterable(map(_strings, value.values()))
    elif isinstance(value, Sequence):
        yield from chain.from_iterable(map(_strings, value))


def _parsed_object(line: str) -> Mapping[str, Any] | None:
    try:
        value = json.loads(line)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None
