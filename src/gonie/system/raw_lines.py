"""Lines of a file as numbered bytes, so that one invalid line does not stop processing.

``lines`` of ``gonie.system.files`` refuses a file at its first invalid byte, which is right for a corpus.
Bulk processing of many files skips the invalid line and continues.
"""

from __future__ import annotations

import codecs
from collections.abc import Iterator
from os import PathLike
from typing import BinaryIO, NamedTuple

from gonie.errors import InputError
from gonie.system.files import BLOCK, LONGEST_LINE, open_bytes

SHOWN = 1 << 12
"""Bytes kept of a line that is too long."""


class RawLine(NamedTuple):
    """A line without its line end. If it is too long, ``whole`` is false and only its beginning is kept."""

    number: int
    content: bytes
    whole: bool = True

    def text(self) -> str:
        """Return the line as text. Raise InputError if it is too long or not valid text."""
        if not self.whole:
            raise InputError(f"line longer than {LONGEST_LINE >> 20} MiB")
        try:
            text = self.content.decode("utf-8")
        except UnicodeDecodeError as error:
            raise InputError(
                f"invalid UTF-8: 0x{self.content[error.start]:02x} at byte {error.start + 1} of the line"
            ) from None
        if "\0" in text:
            raise InputError("NUL byte in a text file")
        return text


class Cut(NamedTuple):
    """A boundary between two lines: the byte offset and the number of the line that begin there."""

    byte: int
    line: int


def read_raw_lines(path: str | PathLike[str], *, start: Cut | None = None) -> Iterator[RawLine]:
    """Yield the lines of a file from ``start`` on, without byte order mark and the CR of CRLF."""
    byte, number = start or Cut(0, 1)
    with open_bytes(path) as stream:
        stream.seek(byte)
        while line := stream.readline(LONGEST_LINE + 1):
            whole = len(line) <= LONGEST_LINE or line.endswith(b"\n")
            if not whole:
                line = line[:SHOWN]
                _pass_line(stream)
            if number == 1:
                line = line.removeprefix(codecs.BOM_UTF8)
            yield RawLine(number, line.removesuffix(b"\n").removesuffix(b"\r"), whole)
            number += 1


def _pass_line(stream: BinaryIO) -> None:
    """Skip the rest of the current line."""
    while (rest := stream.readline(BLOCK)) and not rest.endswith(b"\n"):
        pass


def cut_lines(path: str | PathLike[str], *, size: int) -> list[Cut]:
    """Return boundaries at least ``size`` bytes apart, from the first line to the end of the file.

    Lines are never split. The file is read once, block by block.
    """
    cuts = [Cut(0, 1)]
    with open_bytes(path) as stream:
        end, number, ended = 0, 1, True
        while block := stream.read(BLOCK):
            counted = 0
            while (at := block.find(b"\n", max(0, cuts[-1].byte + size - end - 1))) >= 0:
                number += block.count(b"\n", counted, at + 1)
                counted = at + 1
                cuts.append(Cut(end + counted, number))
            number += block.count(b"\n", counted)
            end, ended = end + len(block), block.endswith(b"\n")
    last = Cut(end, number + (not ended))
    return cuts if cuts[-1] == last else [*cuts, last]
