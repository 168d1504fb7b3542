"""What commands that take a text, files or standard input have in common: the lines they read."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
from pathlib import Path

from gonie.errors import InputError
from gonie.formats.format import ReadOptions
from gonie.formats.jsonl import read_record
from gonie.formats.tagged import read
from gonie.system.files import STANDARD_INPUT, display, is_stream, is_utf8, lines
from gonie.system.parquet import ParquetCell, read_cells
from gonie.text.report import Report
from gonie.text.types import Sentence

ARGUMENT = "TEXT"  # what messages call the text on the command line
Place = tuple[str, int, str]
"""A file, a line number and the line."""


def check_one_source(text: str | None, files: Sequence[str | Path]) -> None:
    """Refuse a text beside files; and a file that cannot be read at once, not after those before it."""
    if text is not None and files:
        raise InputError(expected="a TEXT or --file", got="both", fix="Give one of them.")
    for file in files:
        if not is_stream(file):
            next(lines(file), None)


def is_typed(text: str | None, files: Sequence[str | Path]) -> bool:
    """Does a person type the lines, who wants an answer to each and not to many together?"""
    return text is None and not files and sys.stdin.isatty()


def read_lines(text: str | None, files: Sequence[str | Path]) -> Iterator[Place]:
    """The text on the command line, or each line of the files or of standard input."""
    if text is not None:
        return iter([(ARGUMENT, 1, _whole(text))])
    return chain.from_iterable(_of_file(path) for path in files or [STANDARD_INPUT])


def read_records(rows: Iterable[Place]) -> Iterator[str]:
    """The texts of lines that are JSON objects with one; blank lines are passed over."""
    return (read_record(line, path, number)["text"] for path, number, line in rows if line.strip())


def read_columns(text: str | None, files: Sequence[str | Path], options: ReadOptions) -> Iterator[Sentence]:
    """The sentences of column files."""
    if text is not None:
        raise InputError(expected="--input conll with --file or standard input", got="a TEXT")
    for path in files or [STANDARD_INPUT]:
        yield from read(path, options, Report())


def read_tables(text: str | None, files: Sequence[str | Path], *, column: str = "text") -> Iterator[Place]:
    """The texts in a column of Parquet files, by row."""
    if text is not None or not files or any(map(is_stream, files)):
        raise InputError(expected="--input parquet with --file", got="a stream" if text is None else "a TEXT")
    tables = map(Path, files)
    return (
        (str(path), cell.row, _cell(cell, path, column))
        for path in tables
        for cell in read_cells(path, column=column)
    )


def _cell(cell: ParquetCell, path: Path, column: str) -> str:
    if isinstance(cell.text, str):
        return cell.text
    got = "none (null)" if cell.text is None else "bytes that are not UTF-8"
    raise InputError(path=path, line=cell.row, expected=f"a text in the column {column!r}", got=got)


def _whole(text: str) -> str:
    """The argument, unless the terminal sent bytes that are not UTF-8."""
    if is_utf8(text):
        return text
    raise InputError(
        path=ARGUMENT,
        expected="UTF-8",
        got=f"a lone surrogate in {text[:60]!r}",
        fix="Check the terminal's encoding",
    )


def _of_file(path: str | Path) -> Iterator[Place]:
    name = display(path)
    return ((name, number, line) for number, line in lines(path))
