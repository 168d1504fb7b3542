"""The input of commands that take a text, files or standard input: rows of texts, or sentences."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
from pathlib import Path
from queue import Queue
from threading import Thread

from gonie.errors import InputError
from gonie.formats.content import FileHead
from gonie.formats.detect import check_plain_text
from gonie.formats.format import ReadOptions, WordUnit
from gonie.formats.table import PAIR_FORMATS, TEXT_FORMATS
from gonie.formats.tagged import read
from gonie.formats.text_rows import (
    ARGUMENT,
    AUTO,
    CONLL,
    JSONL,
    LINES,
    PARQUET,
    TABLES,
    TEXT,
    TOKENS,
    Place,
    TextRow,
    cell_row,
    check_one_source,
    check_texts,
    checked_argument,
    checked_fields,
    content_kind,
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

QUEUED = 10_000
"""Rows of a stream that are read ahead, and answered together, at most."""


def reads_stream(given: bool, files: Sequence[str | Path]) -> bool:
    """Return whether the input arrives over time: standard input or a pipe, not a TEXT or plain files."""
    return not given and (not files or any(map(is_stream, files)))


def arrived(rows: Iterable[TextRow]) -> Iterator[list[TextRow]]:
    """Yield the rows of a stream in groups: each row at once if no other waits, many if they queue.

    A thread reads ahead, at most ``QUEUED`` rows. It is not waited for when the caller stops.
    """
    queue: Queue[TextRow | BaseException | None] = Queue(QUEUED)

    def read_ahead() -> None:
        try:
            for row in rows:
                queue.put(row)
            queue.put(None)
        except BaseException as error:  # raised where the rows are used
            queue.put(error)

    Thread(target=read_ahead, daemon=True).start()
    while True:
        items = [queue.get()]
        while not queue.empty() and len(items) < QUEUED:
            items.append(queue.get())
        if group := [item for item in items if isinstance(item, TextRow)]:
            yield group
        last = items[-1]
        if isinstance(last, BaseException):
            raise last
        if last is None:
            return


def check_kind(kind: str, known: Sequence[str], *, when: str = "") -> None:
    """Refuse a kind of input that the model does not support."""
    if kind not in known:
        raise InputError(f"--input {kind} is not supported{when}", fix=f"Use {', '.join(known)}")


def check_suffixes(files: Sequence[Path], kinds: InputKinds) -> None:
    """Refuse files for a bulk run whose suffix is that of a format that only streams read."""
    for file in files:
        kind = kind_of(file, kinds.detected)
        if kind == TEXT:
            check_plain_text(file, kinds.files)
        if kind not in kinds.files:
            raise InputError(
                f"--out cannot read {kind.upper()}, whose rows may span several lines",
                path=file,
                fix="Convert the file to JSONL or TSV, or leave out --out",
            )


def stream_rows(
    texts: Sequence[str],
    files: Sequence[Path],
    *,
    kind: str,
    kinds: InputKinds,
    columns: Sequence[str],
    answering: Answering,
    report: Report,
    call: str,
) -> Iterator[TextRow]:
    """Return the rows of the input, in order. ``report`` counts the skipped rows of labelled files.

    ``call`` is the command without its texts, for messages. ``texts`` are those of one row. ``AUTO`` chooses
    the kind by the suffix of each file.
    """
    check_kind(kind, (AUTO, *kinds.stream))
    check_one_source(bool(texts), files, read=False)
    found = {file: content_kind(file, kinds.stream) if kind == AUTO else kind for file in files}
    check_one_source(bool(texts), [file for file in files if found[file] != PARQUET])
    own = TEXT if kind == AUTO else kind
    if own not in LINES and (texts or (own == PARQUET and not files)):
        source = "TEXT" if texts else "standard input"
        also = "" if own == PARQUET else ", or standard input"
        raise InputError(f"--input {own} cannot be combined with {source}", fix=f"Pass --file FILE{also}")
    if texts:
        if own in (TEXT, TOKENS):
            check_texts(texts, len(columns), call=call)
        return _given(texts, own, columns)
    named: Sequence[tuple[str | Path, str]] = list(found.items()) or [(STANDARD_INPUT, kind)]
    return chain.from_iterable(_rows(*each, columns, answering, report) for each in named)


def _given(texts: Sequence[str], kind: str, columns: Sequence[str]) -> Iterator[TextRow]:
    """Return the row on the command line: its texts, or one TEXT in the form of a line."""
    whole = tuple(map(checked_argument, texts))
    if kind == TEXT and len(whole) == len(columns):
        return iter([TextRow(ARGUMENT, 1, whole)])
    if len(whole) > 1:
        raise InputError(f"--input {kind} takes one TEXT, got {len(whole)}")
    row = LINES[kind](ARGUMENT, 1, whole[0], columns)
    return iter([] if row is None else [row])


def _rows(
    path: str | Path, kind: str, columns: Sequence[str], answering: Answering, report: Report
) -> Iterator[TextRow]:
    if kind == PARQUET:
        if is_stream(path):
            raise InputError("--input parquet cannot read a stream", fix="Pass --file FILE")
        cells = read_cells(Path(path), columns=columns)
        yield from (cell_row(str(path), cell, columns) for cell in cells)
    elif kind == AUTO or kind in LINES:
        places = file_lines(path)
        first = next(places, None)
        if first is None:
            return
        if kind == AUTO:
            _refuse_header(first, columns)
            kind = JSONL if set(columns) <= checked_fields(first[2]).keys() else TEXT
        rows = (LINES[kind](*place, columns) for place in chain([first], places))
        yield from (row for row in rows if row is not None)
    else:
        own = Report()
        yield from answering.read(path, kind, own)
        report.skipped.update(own.skipped)


def _refuse_header(first: Place, columns: Sequence[str]) -> None:
    """Refuse a stream that begins with the header of a table, which would be read as a text."""
    file, number, line = first
    head = FileHead(file, [line], columns=[name for name in columns if not name.isdigit()])
    tables = [formats[kind] for formats in (PAIR_FORMATS, TEXT_FORMATS) for kind in TABLES]
    found = next((each.name for each in tables if each.recognise(head)), None)
    if found is not None:
        raise InputError(
            f"the first line seems to be the header of a table: {line[:100]!r}",
            path=file,
            line=number,
            fix=f"Pass --input {found}. If it is a text, pass --input text",
        )


def text_lines(text: str | None, files: Sequence[Path]) -> Iterator[str]:
    """Yield the texts of the input, one per line. Files with columns are refused."""
    check_one_source(text is not None, files)
    for file in files:
        check_plain_text(file)
    rows = (LINES[TEXT](*place, (TEXT,)) for place in read_lines(text, files))
    return (row.texts[0] for row in rows if row is not None)


def read_sentences(
    tokenizer: Tokenizer, *, text: str | None, files: Sequence[Path], kind: str
) -> Iterator[tuple[str, ...]]:
    """Yield the words of each sentence of the input, in order.

    Each line of tokens is a sentence. A blank line is a sentence without words.
    """
    check_kind(kind, (*LINES, CONLL))
    check_one_source(text is not None, files)
    if kind == CONLL:
        options = ReadOptions(tokenizer=tokenizer, unit=WordUnit.of(tokenizer))
        return (sentence.words for sentence in _columns(text, files, options))
    rows = (LINES[kind](*place, ("text",)) for place in read_lines(text, files))
    texts = (row.texts[0] for row in rows if row is not None)
    if kind == TOKENS:
        return (tuple(text.split()) for text in texts)
    return (sentence.words for sentence in chain.from_iterable(map(tokenizer, texts)))


def _columns(text: str | None, files: Sequence[Path], options: ReadOptions) -> Iterator[Sentence]:
    """Yield the sentences of column files."""
    if text is not None:
        raise InputError(
            f"--input {CONLL} cannot be combined with TEXT", fix="Pass --file FILE, or standard input"
        )
    paths: Sequence[str | Path] = files or [STANDARD_INPUT]
    for path in paths:
        yield from read(path, options, Report())
