"""Write tokenised text as a plain file: one sentence per line, with space-separated tokens."""

from __future__ import annotations

import gzip
import lzma
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import IO, Any

import numpy as np

from gonie.features.lm_text.stream import BEGIN, END, TokenStream
from gonie.system.files import atomic_path

AT_ONCE = 1 << 20
"""Tokens in memory at a time."""

OPENERS: Mapping[str, Callable[..., IO[Any]]] = {".gz": gzip.open, ".xz": lzma.open}


def write_plain(stream: TokenStream, path: Path) -> None:
    """Write the text of ``stream`` atomically, compressed according to the file name."""
    opened = OPENERS.get(path.suffix, open)
    with (
        atomic_path(path) as temporary,
        opened(temporary, "wt", encoding="utf-8", newline="\n") as file,
    ):
        for text in _pieces(stream):
            file.write(text)


def _pieces(stream: TokenStream) -> Iterator[str]:
    """Yield the lines of the text, many at a time."""
    words = np.array(["", "\n", "", *(form for form in list(stream.forms)[3:])], dtype=object)
    for start in range(0, len(stream.tokens), AT_ONCE):
        tokens = np.asarray(stream.tokens[start : start + AT_ONCE])
        shown = words[tokens]
        ends = np.append(tokens[1:], _next(stream, start + len(tokens)))
        blanks = (tokens != BEGIN) & (tokens != END) & (ends != END)  # after a word followed by another
        yield "".join(
            f"{word} " if blank else word for word, blank in zip(shown, blanks.tolist(), strict=True)
        )


def _next(stream: TokenStream, place: int) -> int:
    return int(stream.tokens[place]) if place < len(stream.tokens) else BEGIN
