"""From a piece of a file to its rows: a text each, or the reason why there is none."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from gonie.bulk.pieces import FilePiece
from gonie.bulk.plan import InputFile
from gonie.errors import InputError
from gonie.formats.text_rows import COMPRESSED, LINES, PARQUET, TextRow, cell_row
from gonie.system.files import is_utf8
from gonie.system.parquet import ParquetCell, read_cells
from gonie.system.raw_lines import Cut, RawLine, read_raw_lines

SHOWN = 1000
"""Characters of a bad row that are kept with its reason."""

Stored = RawLine | ParquetCell


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

    def __init__(self, sources: Sequence[InputFile], *, columns: Sequence[str], root: Path) -> None:
        self._sources = sources
        self._root = root
        self._columns = tuple(columns)
        self._open: Iterator[Stored] = iter(())
        self._where = (-1, -1)  # the file and the place where reading began
        self._next = 0  # number of the row that comes next

    def __call__(self, piece: FilePiece) -> Iterator[TextRow | BadRow]:
        """The rows of a piece, in order; blank lines between JSON objects are none."""
        source = self._sources[piece.file]
        name = _written(source.path)
        for stored in self._stored(piece, source):
            try:
                row: TextRow | BadRow | None = self._row(stored, name, source.kind)
            except InputError as error:
                row = BadRow.of(name, stored[0], error, _content(stored))
            if row is not None:
                yield row

    def _row(self, stored: Stored, name: str, kind: str) -> TextRow | None:
        if isinstance(stored, ParquetCell):
            return cell_row(name, stored, self._columns)
        return LINES[kind](name, stored.number, stored.text(), self._columns)

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
            f"expected {piece.row + piece.rows - 1:,} rows, got fewer",
            path=source.path,
            fix="It has changed since the run began: begin again, in another folder",
        )

    def _opened(self, piece: FilePiece, source: InputFile) -> Iterator[Stored]:
        path = self._root / source.path
        if source.kind == PARQUET:
            return read_cells(path, columns=self._columns, group=piece.at)
        if path.suffix in COMPRESSED:
            return read_raw_lines(path)
        return read_raw_lines(path, start=Cut(piece.at, piece.row))


def _content(stored: Stored) -> str | bytes | None:
    """What is shown of a row that could not be used."""
    return stored.content if isinstance(stored, RawLine) else next((t for t in stored.texts if t), None)


def _written(path: str) -> str:
    """The name of a file, any byte of it that is not UTF-8 as \\xNN: parts are UTF-8."""
    return os.fsencode(path).decode("utf-8", errors="backslashreplace")
