"""Read paragraphs of text, one per line, from plain, gzip, xz and Parquet files of any size.

A file is never in memory as a whole. A very long line, such as a whole book, is yielded in pieces of at most
``LONGEST`` characters.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

from gonie.errors import InputError
from gonie.system.files import display, lines
from gonie.system.parquet import SUFFIX as PARQUET
from gonie.system.parquet import open_table
from gonie.text.report import Report

LONGEST = 100_000
"""Maximum characters per piece of a line."""

ROWS = 1024
"""Rows of a Parquet file in memory at a time."""

Reached = Callable[[int], None]


def read_paragraphs(
    path: Path, *, column: str = "text", report: Report, reached: Reached | None = None
) -> Iterator[str]:
    """Yield the paragraphs of a file, without blank ones. For Parquet, these are the lines in ``column``.

    ``reached`` is called from time to time with the number of bytes read so far.
    """
    report.path = display(path)
    if path.suffix == PARQUET:
        texts = _cells(path, column, reached)
    else:
        texts = (text for _, text in lines(path, reached=reached))
    for text in texts:
        for piece in _pieces(text, report):
            report.texts += 1
            yield piece
    if not report.texts:
        raise InputError(
            "the file contains no text",
            path=display(path),
            fix="Remove it, or choose another column" if path.suffix == PARQUET else "Remove it",
        )


def _pieces(text: str, report: Report) -> Iterator[str]:
    """Yield the text unless it is blank. A long text is split, at white space if possible."""
    if len(text) > LONGEST:
        report.noticed[f"lines longer than {LONGEST:,} characters, read in pieces"] += 1
    start = 0
    while start < len(text):
        end = _cut(text, start)
        piece = text[start:end]
        if not piece.isspace():
            yield piece
        start = end


def _cut(text: str, start: int) -> int:
    """Return the end of the piece that begins at ``start``."""
    end = start + LONGEST
    if len(text) <= end:
        return len(text)
    if text[end].isspace():
        return end
    last_word = text[start : end + 1].rsplit(maxsplit=1)[-1]
    return end + 1 - len(last_word) if len(last_word) <= LONGEST else end


# --- Parquet ---------------------------------------------------------------------------------------------


def _cells(path: Path, column: str, reached: Reached | None) -> Iterator[str]:
    """Yield the lines of every text in a column."""
    with open_table(path, columns=(column,), extra="train") as table:
        size = path.stat().st_size
        rows = 0
        for batch in table.iter_batches(batch_size=ROWS, columns=[column]):
            rows += len(batch)
            if reached is not None:
                reached(size * rows // table.metadata.num_rows)
            for text in batch.column(0).to_pylist():
                yield from (text or "").split("\n")
