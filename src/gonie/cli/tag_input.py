"""What `gonie tag` reads: a text, files or standard input, as running text, tokens, columns or JSON."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import chain
from pathlib import Path

from gonie.data.files import STANDARD_INPUT, display, is_utf8, lines
from gonie.data.formats import ReadOptions, read
from gonie.data.jsonl import read_record
from gonie.data.report import Report
from gonie.data.types import Document, Sentence
from gonie.errors import InputError
from gonie.runtime.predictor import Predictor

ARGUMENT = "TEXT"  # what messages call the text on the command line
Place = tuple[str, int, str]
"""A file, a line number and the line."""


def documents(
    tagger: Predictor, *, text: str | None, files: Sequence[str | Path], kind: str
) -> Iterator[Document]:
    """The tagged documents of what the user named, in order."""
    if kind not in KINDS and kind != "conll":
        raise InputError(expected=f"--input {', '.join([*KINDS, 'conll'])}", got=repr(kind))
    if text is not None and files:
        raise InputError(expected="a TEXT or --file", got="both", fix="Give one of them.")
    if kind == "conll":
        return tagger.pipe_sentences(_columns(tagger, text, files))
    typed = text is None and not files and sys.stdin.isatty()
    rows = _lines(text, files)
    if not typed:
        return KINDS[kind](tagger, rows)
    # a person who types gets an answer to each line, not to many together
    return chain.from_iterable(KINDS[kind](tagger, [row]) for row in rows)


def _lines(text: str | None, files: Sequence[str | Path]) -> Iterator[Place]:
    if text is not None:
        return iter([(ARGUMENT, 1, _whole(text))])
    return chain.from_iterable(_of_file(path) for path in files or [STANDARD_INPUT])


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


def _texts(tagger: Predictor, rows: Iterable[Place]) -> Iterator[Document]:
    """Each line is a text."""
    return tagger.pipe(line for _, _, line in rows)


def _records(tagger: Predictor, rows: Iterable[Place]) -> Iterator[Document]:
    """Each line is a JSON object with a text."""
    return tagger.pipe(read_record(line, path, number)["text"] for path, number, line in rows if line.strip())


def _tokens(tagger: Predictor, rows: Iterable[Place]) -> Iterator[Document]:
    """Each line is a sentence, its tokens apart by blanks."""
    return tagger.pipe_sentences(Sentence(words=tuple(line.split())) for _, _, line in rows)


KINDS: Mapping[str, Callable[[Predictor, Iterable[Place]], Iterator[Document]]] = {
    "text": _texts,
    "tokens": _tokens,
    "jsonl": _records,
}


def _columns(tagger: Predictor, text: str | None, files: Sequence[str | Path]) -> Iterator[Sentence]:
    """Words, and the further columns that the model was trained with, from column files."""
    if text is not None:
        raise InputError(expected="--input conll with --file or standard input", got="a TEXT")
    data = tagger.recipe.get("data")
    further = data.get("columns") if isinstance(data, dict) else None
    options = ReadOptions(columns=further or {}, tokenizer=tagger.tokenizer)
    for path in files or [STANDARD_INPUT]:
        yield from read(path, options, Report())
