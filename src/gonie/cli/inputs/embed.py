"""What `gonie embed` reads: a text, files or standard input, as running text, tokens, columns or JSON."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import chain
from pathlib import Path

from gonie.cli.inputs.stream import check_kind, read_columns
from gonie.formats.format import ReadOptions
from gonie.formats.text_rows import LINES, TOKENS, check_one_source, read_lines
from gonie.text.tokenizers import Tokenizer

CONLL = "conll"
Words = tuple[str, ...]


def sentences(
    tokenizer: Tokenizer, *, text: str | None, files: Sequence[str | Path], kind: str
) -> Iterator[Words]:
    """The words of each sentence of what the user named, in order.

    A line of tokens is a sentence: a blank one has none, and keeps its number.
    """
    check_kind(kind, (*LINES, CONLL))
    check_one_source(text is not None, files)
    if kind == CONLL:
        found = read_columns(text, files, ReadOptions(tokenizer=tokenizer))
        return (sentence.words for sentence in found)
    rows = (LINES[kind](*place, ("text",)) for place in read_lines(text, files))
    texts = (row.texts[0] for row in rows if row is not None)
    if kind == TOKENS:
        return (tuple(text.split()) for text in texts)
    return (sentence.words for sentence in chain.from_iterable(map(tokenizer, texts)))
