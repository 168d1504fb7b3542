"""What `gonie embed` reads: a text, files or standard input, as running text, tokens, columns or JSON."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import chain
from pathlib import Path

from gonie.cli.inputs.stream import Place, check_one_source, read_columns, read_lines, read_records
from gonie.errors import InputError
from gonie.formats.format import ReadOptions
from gonie.text.tokenizers import Tokenizer

Words = tuple[str, ...]


def sentences(
    tokenizer: Tokenizer, *, text: str | None, files: Sequence[str | Path], kind: str
) -> Iterator[Words]:
    """The words of each sentence of what the user named, in order."""
    if kind not in KINDS and kind != "conll":
        raise InputError(expected=f"--input {', '.join([*KINDS, 'conll'])}", got=repr(kind))
    check_one_source(text, files)
    if kind == "conll":
        found = read_columns(text, files, ReadOptions(tokenizer=tokenizer))
        return (sentence.words for sentence in found)
    return KINDS[kind](tokenizer, read_lines(text, files))


def _cut(tokenizer: Tokenizer, texts: Iterable[str]) -> Iterator[Words]:
    return (sentence.words for sentence in chain.from_iterable(map(tokenizer, texts)))


def _texts(tokenizer: Tokenizer, rows: Iterable[Place]) -> Iterator[Words]:
    """Each line is a text of any number of sentences."""
    return _cut(tokenizer, (line for _, _, line in rows))


def _records(tokenizer: Tokenizer, rows: Iterable[Place]) -> Iterator[Words]:
    """Each line is a JSON object with a text."""
    return _cut(tokenizer, read_records(rows))


def _tokens(_: Tokenizer, rows: Iterable[Place]) -> Iterator[Words]:
    """Each line is a sentence, its tokens apart by blanks; a blank one has none, and keeps its number."""
    return (tuple(line.split()) for _, _, line in rows)


KINDS: Mapping[str, Callable[[Tokenizer, Iterable[Place]], Iterator[Words]]] = {
    "text": _texts,
    "tokens": _tokens,
    "jsonl": _records,
}
