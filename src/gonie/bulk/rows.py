"""From a piece of a file to its rows: a text each, or the reason why there is none."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from gonie.bulk.pieces import COMPRESSED, PARQUET, FilePiece
from gonie.bulk.plan import InputFile
from gonie.errors import InputError
from gonie.formats.jsonl import read_record
from gonie.system.files import is_utf8
from gonie.system.parquet import ID, ParquetCell, read_cells
from gonie.system.raw_lines import Cut, RawLine, read_raw_lines

SHOWN = 1000
"""Characters of a bad row that are kept with its reason."""

Stored = RawLine | ParquetCell


class InputRow(NamedTuple):
    """A text, where it stood, and the object it stood in, if any."""

    file: str
    number: int
    text: str
    record: Mapping[str, Any] | None = None

    @property
    def place(self) -> dict[str, Any]:
        """What finds the row again: its file and number, and its id where it has one."""
        known = {"file": self.file, "row": self.number}
        return known | ({ID: self.record[ID]} if self.record and ID in self.record else {})


class BadRow(NamedTuple):
    """A row that could not be used, and why; ``content`` as far as it can be shown."""

    file: str
    row: int
    reason: str
    content: str

    @classmethod
    def of(cls, file: str, row: int, error: InputError, content: str | bytes | None) -> BadRow:
        """A row that was refused."""
        if isinstance(content, bytes):
            content = content[: 4 * SHOWN].decode("utf-8", errors="backslashreplace")
        shown = (content or "")[:SHOWN]
        reason = str(error).removeprefix(f"{file}:{row}: ")
        return cls(file, row, reason, shown if is_utf8(shown) else ascii(shown))


class RowReader:
    """Reads pieces. Where a file cannot be entered in the middle, it goes on from the piece before.

    So a worker that is given pieces in order reads a compressed file once, not once for every piece.
    """

    def __init__(self, sources: Sequence[InputFile], *, column: str, root: Path) -> None:
        self._sources = sources
        self._root = root
        self._column = column
        self._open: Iterator[Stored] = iter(())
        self._where = (-1, -1)  # the file and the place where reading began
        self._next = 0  # number of the row that comes next

    def __call__(self, piece: FilePiece) -> Iterator[InputRow | BadRow]:
        """The rows of a piece, in order; blank lines between JSON objects are none."""
        source = self._sources[piece.file]
        name = _written(source.path)
        for stored in self._stored(piece, source):
            try:
                row: InputRow | BadRow | None = PARSERS[source.kind](stored, name, self._column)
            except InputError as error:
                row = BadRow.of(name, stored[0], error, stored[1])
            if row is not None:
                yield row

    def _stored(self, piece: FilePiece, source: InputFile) -> Iterator[Stored]:
        ahead = piece.row - self._next
        if piece.file != self._where[0] or ahead < 0 or (ahead > 0 and piece.at != self._where[1]):
            self._open = self._opened(piece, source)
            self._where = (piece.file, piece.at)
        left = piece.rows
        for stored in self._open:
            if stored[0] < piece.row:
                continue
            self._next = stored[0] + 1
            yield stored
            left -= 1
            if not left:
                return
        self._where = (-1, -1)
        raise InputError(
            path=source.path,
            expected=f"{piece.row + piece.rows - 1:,} rows",
            got="fewer",
            fix="It has changed since the run began: begin again, in another folder",
        )

    def _opened(self, piece: FilePiece, source: InputFile) -> Iterator[Stored]:
        path = self._root / source.path
        if source.kind == PARQUET:
            return read_cells(path, column=self._column, group=piece.at)
        if path.suffix in COMPRESSED:
            return read_raw_lines(path)
        return read_raw_lines(path, start=Cut(piece.at, piece.row))


def _line(stored: Any, path: str, column: str) -> InputRow:
    """A line is a text."""
    return InputRow(path, stored.number, stored.text())


def _record(stored: Any, path: str, column: str) -> InputRow | None:
    """A line is a JSON object with a text."""
    text = stored.text()
    if not text.strip():
        return None
    record = read_record(text, path, stored.number, key=column)
    return InputRow(path, stored.number, record[column], record)


def _cell(stored: Any, path: str, column: str) -> InputRow:
    """A row of a table with a text."""
    if isinstance(stored.text, bytes):
        raise InputError(expected="UTF-8", got="other bytes")
    if stored.text is None:
        raise InputError(expected=f"a text in the column {column!r}", got="none (null)")
    named = {} if stored.id is None else {ID: _plain(stored.id)}
    return InputRow(path, stored.row, stored.text, {**named, column: stored.text})


PARSERS: Mapping[str, Callable[[Any, str, str], InputRow | None]] = {
    "text": _line,
    "tokens": _line,
    "jsonl": _record,
    PARQUET: _cell,
}
"""How what is stored becomes a row, by the kind of file."""


def _written(path: str) -> str:
    """The name of a file, any byte of it that is not UTF-8 as \\xNN: parts are UTF-8."""
    return os.fsencode(path).decode("utf-8", errors="backslashreplace")


def _plain(value: Any) -> Any:
    """An id that JSON can hold."""
    return value if isinstance(value, str | int | float) else str(value)
