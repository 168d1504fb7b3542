"""What `gonie tag` reads: a text, files or standard input, as running text, tokens, columns or JSON."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import chain
from pathlib import Path

from gonie.cli.inputs.stream import (
    Place,
    check_one_source,
    is_typed,
    read_columns,
    read_lines,
    read_records,
    read_tables,
)
from gonie.errors import InputError
from gonie.formats.format import ReadOptions
from gonie.system.parquet import SUFFIX
from gonie.tasks.tagging.tagger import Tagger
from gonie.text.types import Document, Sentence

AUTO, PARQUET = "auto", "parquet"


def documents(
    tagger: Tagger, *, text: str | None, files: Sequence[str | Path], kind: str
) -> Iterator[Document]:
    """The tagged documents of what the user named, in order; ``AUTO`` knows Parquet by its suffix."""
    if kind not in (AUTO, *KINDS, "conll", PARQUET):
        raise InputError(expected=f"--input {', '.join([AUTO, *KINDS, 'conll', PARQUET])}", got=repr(kind))
    if kind == AUTO and any(Path(file).suffix == SUFFIX for file in files):
        each = (documents(tagger, text=text, files=[file], kind=_by_suffix(file)) for file in files)
        return chain.from_iterable(each)
    if kind == PARQUET:
        return _texts(tagger, read_tables(text, files))
    kind = "text" if kind == AUTO else kind
    check_one_source(text, files)
    if kind == "conll":
        return tagger.pipe_sentences(_columns(tagger, text, files))
    rows = read_lines(text, files)
    if not is_typed(text, files):
        return KINDS[kind](tagger, rows)
    return chain.from_iterable(KINDS[kind](tagger, [row]) for row in rows)


def _by_suffix(file: str | Path) -> str:
    return PARQUET if Path(file).suffix == SUFFIX else "text"


def _texts(tagger: Tagger, rows: Iterable[Place]) -> Iterator[Document]:
    """Each line is a text."""
    return tagger.pipe(line for _, _, line in rows)


def _records(tagger: Tagger, rows: Iterable[Place]) -> Iterator[Document]:
    """Each line is a JSON object with a text."""
    return tagger.pipe(read_records(rows))


def _tokens(tagger: Tagger, rows: Iterable[Place]) -> Iterator[Document]:
    """Each line is a sentence, its tokens apart by blanks."""
    return tagger.pipe_sentences(Sentence(words=tuple(line.split())) for _, _, line in rows)


KINDS: Mapping[str, Callable[[Tagger, Iterable[Place]], Iterator[Document]]] = {
    "text": _texts,
    "tokens": _tokens,
    "jsonl": _records,
}


def _columns(tagger: Tagger, text: str | None, files: Sequence[str | Path]) -> Iterator[Sentence]:
    """Words, and the further columns that the model was trained with, from column files."""
    data = tagger.recipe.get("data")
    further = data.get("columns") if isinstance(data, dict) else None
    return read_columns(text, files, ReadOptions(columns=further or {}, tokenizer=tagger.tokenizer))
