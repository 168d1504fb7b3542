"""Reads the rows of a piece of a file, valid or with the reason why not."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import NamedTuple

from gonie.bulk.pieces import FilePiece, read_header
from gonie.bulk.plan import InputFile
from gonie.errors import InputError
from gonie.formats.text_rows import (
    COMPRESSED,
    JSONL,
    LINES,
    PARQUET,
    TSV,
    TextRow,
    cell_row,
    checked_fields,
    table_row,
)
from gonie.system.files import is_utf8
from gonie.system.parquet import ParquetCell, read_cells
from gonie.system.raw_lines import Cut, RawLine, read_raw_lines

MAX_CONTENT = 1000
"""The most characters of an invalid row that are kept with its reason."""

Stored = RawLine | ParquetCell


class BadRow(NamedTuple):
    """An invalid row and the reason. ``content`` is the beginning of the row, if readable.

    ``fields`` are those of the input by name, as JSON texts. A line that could not be parsed has none.
    """

    file: str
    row: int
    reason: str
    content: str
    fields: Mapping[str, str] = MappingProxyType({})

    @classmethod
    def of(
        cls, file: str, row: int, error: InputError, content: str | bytes | None, fields: Mapping[str, str]
    ) -> BadRow:
        """Return the invalid row for an error."""
        if isinstance(content, bytes):
            content = content[: 4 * MAX_CONTENT].decode("utf-8", errors="backslashreplace")
        shown = (content or "")[:MAX_CONTENT]
        reason = str(error).removeprefix(f"{file}:{row}: ")
        return cls(file, row, reason, shown if is_utf8(shown) else ascii(shown), fields)


class RowReader:
    """Reads pieces, continuing from the previous piece where a file must be read from its beginning.

    So a worker that gets pieces in order reads a compressed file once, not once per piece.
    """

    def __init__(self, sources: Sequence[InputFile], *, columns: Sequence[str], root: Path) -> None:
        self._sources = sources
        self._root = root
        self._columns = tuple(columns)
        self._open: Iterator[Stored] = iter(())
        self._where = (-1, -1)  # the file and the offset where reading began
        self._next = 0  # the number of the next row
        self._headers: dict[int, tuple[str, ...]] = {}  # column names of TSV tables, by file

    def __call__(self, piece: FilePiece) -> Iterator[TextRow | BadRow]:
        """Yield the rows of a piece in order. Blank lines of JSONL and TSV are skipped."""
        source = self._sources[piece.file]
        name = source.name
        for stored in self._stored(piece, source):
            try:
                row: TextRow | BadRow | None = self._row(stored, name, piece.file)
            except InputError as error:
                row = BadRow.of(name, stored[0], error, _content(stored), _fields(stored, source.kind))
            if row is not None:
                yield row

    def _row(self, stored: Stored, name: str, file: int) -> TextRow | None:
        if isinstance(stored, ParquetCell):
            return cell_row(name, stored, self._columns)
        line, kind = (name, stored.number, stored.text(), self._columns), self._sources[file].kind
        return table_row(*line, self._headers[file]) if kind == TSV else LINES[kind](*line)

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
            f"fewer than {piece.row + piece.rows - 1:,} rows: the file changed since the run began",
            path=source.path,
            fix="Start a new run with another --out",
        )

    def _opened(self, piece: FilePiece, source: InputFile) -> Iterator[Stored]:
        path = self._root / source.path
        if source.kind == TSV and piece.file not in self._headers:
            self._headers[piece.file] = read_header(path, source.path, self._columns)
        if source.kind == PARQUET:
            return read_cells(path, columns=self._columns, group=piece.at)
        if path.suffix in COMPRESSED:
            return read_raw_lines(path)
        return read_raw_lines(path, start=Cut(piece.at, piece.row))


def _content(stored: Stored) -> str | bytes | None:
    """Return the content of an invalid row."""
    return stored.content if isinstance(stored, RawLine) else next((t for t in stored.texts if t), None)


def _fields(stored: Stored, kind: str) -> Mapping[str, str]:
    """Return the fields of an invalid row, or none if it could not be parsed."""
    if isinstance(stored, ParquetCell):
        return stored.fields
    try:
        return checked_fields(stored.text()) if kind == JSONL else {}
    except InputError:
        return {}
