"""Writing examples in any format."""

from __future__ import annotations

import gzip
import lzma
from collections.abc import Iterable, Iterator
from contextlib import AbstractContextManager, nullcontext
from os import PathLike
from pathlib import Path
from typing import IO, Any, cast

from gonie.errors import InputError
from gonie.formats.format import Format
from gonie.system.atomic_folder import replace_folder
from gonie.system.files import atomic_file


def write_examples(
    path: str | PathLike[str], format: Format, examples: Iterable[Any], *arguments: object
) -> int:
    """Write examples to a file or folder atomically. Return their number.

    A file is compressed according to its suffix. ``arguments`` are further arguments of the format's writer.
    """
    number = 0

    def counted() -> Iterator[Any]:
        nonlocal number
        for example in examples:
            number += 1
            yield example

    if format.write_folder is not None:
        replace_folder(Path(path), format.write_folder(counted(), *arguments))
    elif format.write is not None:
        with atomic_file(path, "wb") as file, _compressed(path, file) as stream:
            for piece in format.write(counted(), *arguments):
                stream.write(piece.encode("utf-8") if isinstance(piece, str) else piece)
    else:
        raise InputError(f"the format {format.name} can be read, but not written", fix="Choose another --to")
    return number


def _compressed(path: str | PathLike[str], file: IO[bytes]) -> AbstractContextManager[IO[bytes]]:
    """Return a stream that compresses according to the suffix. Equal content gives equal bytes."""
    suffix = Path(path).suffix
    if suffix == ".gz":
        return cast(IO[bytes], gzip.GzipFile(filename="", mode="wb", fileobj=file, mtime=0))
    if suffix == ".xz":
        return cast(IO[bytes], lzma.LZMAFile(file, "wb"))
    return nullcontext(file)
