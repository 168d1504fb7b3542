"""File formats of word vectors, each read as a stream of blocks (words, lines, matrix).

| format           | file                                                                                    |
|------------------|-----------------------------------------------------------------------------------------|
| glove            | a line per word: the word, then D numbers, space-separated                              |
| word2vec         | the same below a first line ``N D``; fastText's ``.vec`` is the same                    |
| word2vec-binary  | ``N D`` and a line end; then per word: its bytes, a space, D little-endian float32, and |
|                  | an optional line end                                                                    |

Any of them may be gzipped. The format is detected from the content, never from the file name. A word may
contain spaces (GloVe 840B has ``. . .``), so a line is split from the right by the known width. Numbers are
parsed directly into float32 blocks. A file is never held as Python floats.
"""

from __future__ import annotations

import gzip
import re
import sys
import zlib
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from typing import BinaryIO

import numpy as np
from numpy.typing import NDArray

from gonie.errors import InputError
from gonie.system.files import unreadable

GLOVE, WORD2VEC, BINARY = "glove", "word2vec", "word2vec-binary"

CHUNK = 1 << 22  # bytes read at a time
HEAD = 1 << 20  # bytes read to detect the format
LONGEST = 1 << 24  # maximum bytes of a line, or of a word in a binary file
SAMPLE = 100  # lines sampled for the width of a file without a header

_HEADER = re.compile(rb"(\d{1,12})[ \t]+(\d{1,7})[ \t]*\r?\n")
_BLANKS = b" \t\r"
_PRINTABLE = re.compile(rb"[\t\r\n -~]*")
_MAGIC = {
    b"PK\x03\x04": ("a zip archive", "Unpack it and use the file inside"),
    b"\xfd7zXZ": ("an xz file", "Unpack it with xz -d, or compress it with gzip instead"),
    b"BZh": ("a bzip2 file", "Unpack it with bzip2 -d, or compress it with gzip instead"),
    b"\xba\x16\x4f\x2f": ("a fastText .bin model", "Use the .vec file that comes with it"),
}
_SUPPORTED = "Use a GloVe, word2vec or fastText .vec file, plain or gzipped"


@dataclass(frozen=True, slots=True)
class VectorLayout:
    """The layout of a file: format, width D, the N of its header if any, and the header's length in bytes."""

    format: str
    width: int
    declared: int | None = None
    skip: int = 0


@dataclass(frozen=True, slots=True)
class VectorBlock:
    """Consecutive vectors of a file: n words as bytes, and their matrix (n, D)."""

    words: list[bytes]
    matrix: NDArray[np.float32]


def open_vectors(path: Path) -> BinaryIO:
    """Open the file as a stream of bytes, decompressed if it is gzipped."""
    try:
        with path.open("rb") as raw:
            magic = raw.read(2)
        return gzip.open(path, "rb") if magic == b"\x1f\x8b" else path.open("rb")  # type: ignore[return-value]
    except OSError as problem:
        raise unreadable(path, problem) from problem


def read_bytes(stream: BinaryIO, size: int, path: Path) -> bytes:
    """Read up to ``size`` bytes. A damaged gzip file raises an error that names it."""
    try:
        return stream.read(size)
    except (EOFError, OSError, zlib.error) as problem:
        raise InputError(f"damaged file: {problem}", path=path, fix="Download it again") from problem


def detect(path: Path) -> VectorLayout:
    """Detect format and width from the first bytes of the file."""
    with open_vectors(path) as stream:
        head = read_bytes(stream, HEAD, path)
    for magic, (what, fix) in _MAGIC.items():
        if head.startswith(magic):
            raise InputError(f"not a supported file of word vectors: it is {what}", path=path, fix=fix)
    if not head.strip():
        raise InputError("the file is empty", path=path, fix=_SUPPORTED)
    header = _HEADER.match(head.removeprefix(b"\xef\xbb\xbf"))
    layout = _with_header(head, header) if header else None
    return layout or _without_header(head, path)


def _with_header(head: bytes, header: re.Match[bytes]) -> VectorLayout | None:
    """Return the layout below a first line ``N D``, or None if that line is itself a word vector."""
    declared, width = int(header[1]), int(header[2])
    skip = header.end() + (3 if head.startswith(b"\xef\xbb\xbf") else 0)
    line = head[skip:].split(b"\n", 1)[0]
    if width == 0 or (_is_row(line, 1) and len(_fields(line)) == 2 and width != 1):
        return None
    # Numbers in text are printable ASCII. The bytes of float32 numbers almost surely are not.
    numbers = head[head.find(b" ", skip) :][: 4 * width]
    binary = not _is_row(line, width) and not _PRINTABLE.fullmatch(numbers)
    return VectorLayout(format=BINARY if binary else WORD2VEC, width=width, declared=declared, skip=skip)


def _without_header(head: bytes, path: Path) -> VectorLayout:
    """Return the GloVe layout.

    The width is the most common number of fields in the first lines, minus one.
    """
    lines = head.split(b"\n")[:SAMPLE]
    if len(lines) > 1 and len(head) == HEAD:
        lines = lines[:-1]  # cut by the end of the sample
    fields = Counter(len(_fields(line)) for line in lines if line.strip())
    width = fields.most_common(1)[0][0] - 1
    if width < 1 or not any(_is_row(line, width) for line in lines):
        raise InputError(f"not a file of word vectors: {_shown(lines[0])}", path=path, line=1, fix=_SUPPORTED)
    return VectorLayout(format=GLOVE, width=width)


def _is_row(line: bytes, width: int) -> bool:
    """Return whether ``line`` is a word and ``width`` numbers."""
    fields = _fields(line)
    if len(fields) <= width:
        return False
    try:
        return all(np.isfinite(float(field)) for field in fields[-width:])
    except ValueError:
        return False


def blocks(path: Path, layout: VectorLayout, limit: int | None = None) -> Iterator[VectorBlock]:
    """Yield the vectors of the file, or its first ``limit``, in blocks. The rest is not read."""
    with open_vectors(path) as stream:
        read_bytes(stream, layout.skip, path)
        if layout.format == BINARY:
            yield from _binary_blocks(stream, path, layout, limit)
        else:
            yield from _text_blocks(stream, path, layout, limit)


def _text_blocks(
    stream: BinaryIO, path: Path, layout: VectorLayout, limit: int | None
) -> Iterator[VectorBlock]:
    """Yield blocks of a text file, a chunk of whole lines at a time."""
    number, wanted = 2 if layout.skip else 1, sys.maxsize if limit is None else limit
    for lines in _line_chunks(stream, path):
        if wanted <= 0:
            return
        if block := _parse(lines, path, number, layout.width, wanted):
            wanted -= len(block.words)
            yield block
        number += len(lines)


def _line_chunks(stream: BinaryIO, path: Path) -> Iterator[list[bytes]]:
    """Yield lists of whole lines, one list per chunk.

    Only ``\\n`` ends a line, as words contain odd spaces.
    """
    rest, first = b"", True
    while chunk := read_bytes(stream, CHUNK, path):
        if first:
            chunk, first = chunk.removeprefix(b"\xef\xbb\xbf"), False
        *lines, rest = (rest + chunk).split(b"\n")
        if len(rest) > LONGEST:
            raise InputError(f"line longer than {LONGEST:,} bytes", path=path, fix=_SUPPORTED)
        yield lines
    yield [rest]


def _parse(lines: list[bytes], path: Path, first: int, width: int, wanted: int) -> VectorBlock | None:
    """Return the block of the first ``wanted`` lines that are not empty."""
    words: list[bytes] = []
    rows: list[str] = []
    numbers: list[int] = []
    for number, line in zip(count(first), lines, strict=False):
        if len(words) == wanted:
            break
        if stripped := line.rstrip(_BLANKS):
            word, row = _cut(stripped, path, number, width)
            words.append(word)
            rows.append(row)
            numbers.append(number)
    if not rows:
        return None
    matrix = _floats(rows)
    if matrix is None or matrix.shape[1] != width or not np.isfinite(matrix).all():
        raise _broken_number(rows, path, numbers)
    return VectorBlock(words, matrix)


def _cut(line: bytes, path: Path, number: int, width: int) -> tuple[bytes, str]:
    """Split a line into its word and the text of its numbers.

    Spaces before the last D fields belong to the word.
    """
    if b"\t" in line:
        line = line.replace(b"\t", b" ")
    word, _, row = line.partition(b" ")
    if row.count(b" ") != width - 1 or b"  " in row:
        word, row = _split_right(line, width)
    if not word:
        raise InputError(
            f"expected a word and {width} numbers, got {len(_fields(line))} fields: {_shown(line)}",
            path=path,
            line=number,
            fix="Correct or remove the line",
        )
    return word, row.decode("latin-1")


def _split_right(line: bytes, width: int) -> tuple[bytes, bytes]:
    """Return the word and the text of the last D fields. The word is empty if there are too few fields."""
    word, fields = line, []
    for _ in range(width):
        word, _, field = word.rpartition(b" ")
        word = word.rstrip(b" ")
        fields.append(field)
    return word.lstrip(b" "), b" ".join(reversed(fields))


def _fields(line: bytes) -> list[bytes]:
    """Split at spaces and tabs. Form feeds and other white space belong to words."""
    return [field for field in line.rstrip(_BLANKS).replace(b"\t", b" ").split(b" ") if field]


def _floats(rows: list[str]) -> NDArray[np.float32] | None:
    """Return the numbers of ``rows`` (n, D), or None if one of them is not a number."""
    try:
        return np.loadtxt(rows, dtype=np.float32, delimiter=" ", comments=None, ndmin=2)
    except ValueError:
        return None


def _broken_number(rows: list[str], path: Path, numbers: list[int]) -> InputError:
    """Return the error for the first row that is not all finite numbers."""
    for row, number in zip(rows, numbers, strict=True):
        for place, field in enumerate(row.split(" "), start=1):
            if (one := _floats([field])) is None or not np.isfinite(one).all():
                return InputError(
                    f"number {place} after the word is not finite: {_shown(field.encode('latin-1'))}",
                    path=path,
                    line=number,
                    fix="Correct or remove the line",
                )
    raise AssertionError("the block has an invalid number, but none of its rows has one")


def _binary_blocks(
    stream: BinaryIO, path: Path, layout: VectorLayout, limit: int | None
) -> Iterator[VectorBlock]:
    """Yield blocks of a binary file, one per chunk of whole records, up to the number in the header."""
    size, done, declared = 4 * layout.width, 0, layout.declared or 0
    wanted = declared if limit is None else min(declared, limit)
    rest = b""
    while done < wanted:
        chunk = read_bytes(stream, max(CHUNK, size), path)
        rest += chunk
        words, vectors, used = _records(rest, size, wanted - done)
        if not words and (not chunk or len(rest) > LONGEST + size):
            raise InputError(
                f"the header declares {declared:,} vectors of {layout.width} numbers, but the file has "
                f"{done:,} and {len(rest):,} further bytes",
                path=path,
                fix="The file is truncated or is not word2vec binary. Download it again",
            )
        if words:
            matrix = np.frombuffer(b"".join(vectors), dtype="<f4").reshape(-1, layout.width)  # (n, D)
            _refuse_infinite(matrix, words, path, done)
            yield VectorBlock(words, matrix.astype(np.float32, copy=False))
        rest, done = rest[used:], done + len(words)


def _records(buffer: bytes, size: int, wanted: int) -> tuple[list[bytes], list[bytes], int]:
    """Return the whole records at the start of ``buffer``: words, float bytes, and the bytes used."""
    words: list[bytes] = []
    vectors: list[bytes] = []
    at = 0
    while len(words) < wanted:
        blank = buffer.find(b" ", at)
        end = blank + 1 + size
        if blank < 0 or end > len(buffer):
            break
        words.append(buffer[at:blank].lstrip(b"\n"))  # the line end of the previous record
        vectors.append(buffer[blank + 1 : end])
        at = end
    return words, vectors, at


def _refuse_infinite(matrix: NDArray[np.float32], words: list[bytes], path: Path, done: int) -> None:
    bad = np.flatnonzero(~np.isfinite(matrix).all(axis=1))
    if len(bad):
        raise InputError(
            f"vector {done + bad[0] + 1:,}, of {_shown(words[bad[0]])}, has numbers that are not finite",
            path=path,
            fix="The file is damaged or is not word2vec binary. Download it again",
        )


def _shown(line: bytes, length: int = 60) -> str:
    """Return the start of a line in printable form."""
    text = line[: 4 * length].decode("utf-8", errors="replace").strip()
    return repr(text if len(text) <= length else text[:length] + "…")
