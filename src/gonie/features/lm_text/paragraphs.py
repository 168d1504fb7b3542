"""Paragraphs of running text, one a line, out of plain, gzip, xz and Parquet files of any size.

A file is never in memory whole. A line that is no paragraph but a whole book is handed on in pieces, so that
what comes after meets no text longer than ``LONGEST``.
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
"""Characters of the longest piece of a line."""

ROWS = 1024
"""Rows of a Parquet file in memory at a time."""

Reached = Callable[[int], None]


def read_paragraphs(
    path: Path, *, column: str = "text", report: Report, reached: Reached | None = None
) -> Iterator[str]:
    """The paragraphs of a file, those of blanks alone left out; of Parquet, the lines in ``column``.

    ``reached`` is told now and then how many bytes of the file have been read.
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
            "expected text, got a file without a word",
            path=display(path),
            fix="Leave it out, or name another column" if path.suffix == PARQUET else "Leave it out",
        )


def _pieces(text: str, report: Report) -> Iterator[str]:
    """The text if it has a word; a long one in pieces, cut at white space where there is any."""
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
    """Where the piece that begins at ``start`` ends."""
    end = start + LONGEST
    if len(text) <= end:
        return len(text)
    if text[end].isspace():
        return end
    last_word = text[start : end + 1].rsplit(maxsplit=1)[-1]
    return end + 1 - len(last_word) if len(last_word) <= LONGEST else end


# --- Parquet ---------------------------------------------------------------------------------------------


def _cells(path: Path, column: str, reached: Reached | None) -> Iterator[str]:
    """The lines of every text in a column."""
    with open_table(path, columns=(column,), extra="train") as table:
        size = path.stat().st_size
        rows = 0
        for batch in table.iter_batches(batch_size=ROWS, columns=[column]):
            rows += len(batch)
            if reached is not None:
                reached(size * rows // table.metadata.num_rows)
            for text in batch.column(0).to_pylist():
                yield from (text or "").split("\n")
