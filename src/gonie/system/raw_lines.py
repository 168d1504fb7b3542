"""Lines as bytes, each with its number: one that is no text must not stop those after it.

``lines`` of ``gonie.system.files`` refuses a file at its first bad byte, which is right for a corpus. Whoever
goes over a million files instead sets a bad line aside and goes on.
"""

from __future__ import annotations

import codecs
from collections.abc import Iterator
from os import PathLike
from typing import BinaryIO, NamedTuple

from gonie.errors import InputError
from gonie.system.files import BLOCK, LONGEST_LINE, open_bytes

SHOWN = 1 << 12
"""Bytes that are kept of a line that is too long."""


class RawLine(NamedTuple):
    """A line without its end; of one that is not ``whole``, because it is too long, only the beginning."""

    number: int
    content: bytes
    whole: bool = True

    def text(self) -> str:
        """The line as text; what is none is refused with the reason."""
        if not self.whole:
            raise InputError(expected=f"a line shorter than {LONGEST_LINE >> 20} MiB", got="a longer one")
        try:
            text = self.content.decode("utf-8")
        except UnicodeDecodeError as error:
            raise InputError(
                expected="UTF-8", got=f"the byte 0x{self.content[error.start]:02x} at byte {error.start + 1}"
            ) from None
        if "\0" in text:
            raise InputError(expected="text", got="a NUL byte")
        return text


class Cut(NamedTuple):
    """A place between two lines: the byte and the number of the line that begin there."""

    byte: int
    line: int


def read_raw_lines(path: str | PathLike[str], *, start: Cut | None = None) -> Iterator[RawLine]:
    """The lines of a file from ``start`` on; a byte order mark and the CR of CRLF are taken off."""
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
    """Go to the end of a line that is not kept."""
    while (rest := stream.readline(BLOCK)) and not rest.endswith(b"\n"):
        pass


def cut_lines(path: str | PathLike[str], *, size: int) -> list[Cut]:
    """Places at least ``size`` bytes apart, from the first line on; the last is the end of the file.

    Lines stay whole, however long. The file is gone over once, a block at a time.
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
