"""What commands read that take a text, files or standard input: rows of texts, or sentences."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from itertools import chain
from pathlib import Path

from gonie.errors import InputError
from gonie.formats.format import ReadOptions
from gonie.formats.tagged import read
from gonie.formats.text_rows import (
    ARGUMENT,
    AUTO,
    LINES,
    PARQUET,
    TEXT,
    TOKENS,
    TextRow,
    cell_row,
    check_one_source,
    checked_argument,
    file_lines,
    kind_of,
    read_lines,
)
from gonie.system.files import STANDARD_INPUT, is_stream
from gonie.system.parquet import read_cells
from gonie.tasks.records import Answering, InputKinds
from gonie.text.report import Report
from gonie.text.tokenizers import Tokenizer
from gonie.text.types import Sentence

CONLL = "conll"


def is_typed(given: bool, files: Sequence[str | Path]) -> bool:
    """Does a person type the lines, who wants an answer to each and not to many together?"""
    return not given and not files and sys.stdin.isatty()


def check_kind(kind: str, known: Sequence[str], *, when: str = "") -> None:
    """Refuse a kind of input that the model does not take."""
    if kind not in known:
        raise InputError(f"expected --input {', '.join(known)}{when}, got {kind!r}")


def stream_rows(
    texts: Sequence[str],
    files: Sequence[Path],
    *,
    kind: str,
    kinds: InputKinds,
    columns: Sequence[str],
    answering: Answering,
    report: Report,
) -> Iterator[TextRow]:
    """The rows of what the user named, in order; ``report`` gets what of labelled files was left out.

    ``texts`` are those of one row. ``AUTO`` goes by the suffix of each file.
    """
    check_kind(kind, (AUTO, *kinds.stream))
    found = {file: kind_of(file, kinds.detected) if kind == AUTO else kind for file in files}
    check_one_source(bool(texts), files if texts else [file for file in files if found[file] != PARQUET])
    own = TEXT if kind == AUTO else kind
    if own not in LINES and (texts or (own == PARQUET and not files)):
        also = "" if own == PARQUET else " or standard input"
        got = "a TEXT" if texts else "a stream"
        raise InputError(f"expected --input {own} with --file{also}, got {got}")
    if texts:
        return _given(texts, own, columns)
    named: Sequence[tuple[str | Path, str]] = list(found.items()) or [(STANDARD_INPUT, own)]
    return chain.from_iterable(_rows(*each, columns, answering, report) for each in named)


def _given(texts: Sequence[str], kind: str, columns: Sequence[str]) -> Iterator[TextRow]:
    """The row on the command line: its texts, or one in the form of a line."""
    whole = tuple(map(checked_argument, texts))
    if kind == TEXT and len(whole) == len(columns):
        return iter([TextRow(ARGUMENT, 1, whole)])
    if len(whole) > 1:
        raise InputError(f"expected {len(columns)} TEXT, got {len(whole)!s}", fix="Quote each text")
    row = LINES[kind](ARGUMENT, 1, whole[0], columns)
    return iter([] if row is None else [row])


def _rows(
    path: str | Path, kind: str, columns: Sequence[str], answering: Answering, report: Report
) -> Iterator[TextRow]:
    if kind == PARQUET:
        if is_stream(path):
            raise InputError("expected --input parquet with --file, got a stream")
        cells = read_cells(Path(path), columns=columns)
        yield from (cell_row(str(path), cell, columns)._replace(record=None) for cell in cells)
    elif kind in LINES:
        rows = (LINES[kind](*place, columns) for place in file_lines(path))
        yield from (row for row in rows if row is not None)
    else:
        own = Report()
        for number, example in enumerate(answering.read(path, kind, own), start=1):
            yield TextRow(str(path), number, (), example=example)
        report.skipped.update(own.skipped)


def read_sentences(
    tokenizer: Tokenizer, *, text: str | None, files: Sequence[Path], kind: str
) -> Iterator[tuple[str, ...]]:
    """The words of each sentence of what the user named, in order.

    A line of tokens is a sentence: a blank one has none, and keeps its number.
    """
    check_kind(kind, (*LINES, CONLL))
    check_one_source(text is not None, files)
    if kind == CONLL:
        return (sentence.words for sentence in _columns(text, files, ReadOptions(tokenizer=tokenizer)))
    rows = (LINES[kind](*place, ("text",)) for place in read_lines(text, files))
    texts = (row.texts[0] for row in rows if row is not None)
    if kind == TOKENS:
        return (tuple(text.split()) for text in texts)
    return (sentence.words for sentence in chain.from_iterable(map(tokenizer, texts)))


def _columns(text: str | None, files: Sequence[Path], options: ReadOptions) -> Iterator[Sentence]:
    """The sentences of column files."""
    if text is not None:
        raise InputError(f"expected --input {CONLL} with --file or standard input, got a TEXT")
    paths: Sequence[str | Path] = files or [STANDARD_INPUT]
    for path in paths:
        yield from read(path, options, Report())
