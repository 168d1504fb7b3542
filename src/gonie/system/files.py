"""Reading lines of files and writing files atomically.

Reading is strict (UTF-8, no NUL bytes), and errors name ``file:line``. Writing is atomic: a temporary file
beside the target is written, synced to disk and renamed over the target.
"""

from __future__ import annotations

import codecs
import difflib
import errno
import gzip
import lzma
import os
import re
import secrets
import shlex
import stat
import sys
import zlib
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from os import PathLike
from pathlib import Path
from typing import IO, Any, BinaryIO, cast

from gonie.errors import InputError, OutputError

Line = tuple[int, str]
"""A line of a file: its number, counted from 1, and its text without the line end."""

STANDARD_INPUT = "-"
BLOCK = 1 << 20
LONGEST_LINE = 1 << 28
"""The maximum line length in bytes. Longer lines are refused before they fill the memory."""
CONTROLS = re.compile(rb"[\x00-\x08\x0e-\x19\x1c-\x1f]")
"""Control characters that texts hardly have."""
MOST_CONTROLS = 0.01
"""A file with a larger share of them is no text in any encoding."""

PREFIX, SUFFIX = ".gonie-", ".tmp"
"""The prefix and suffix of temporary files."""

_DAMAGED = (gzip.BadGzipFile, EOFError, zlib.error, lzma.LZMAError)


def display(path: str | PathLike[str]) -> str:
    """Return the name of a file for messages. ``-`` is standard input."""
    name = os.fspath(path)
    return "standard input" if name == STANDARD_INPUT else name


def is_utf8(text: str) -> bool:
    """Return whether the text can be encoded as UTF-8.

    It cannot if it contains a lone surrogate, which is how Python decodes a byte of a file name that is not
    UTF-8.
    """
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return False
    return True


def is_stream(path: str | PathLike[str]) -> bool:
    """Return whether the path can be read only once: standard input, a pipe, a process substitution."""
    return os.fspath(path) == STANDARD_INPUT or Path(path).is_fifo()


def is_empty(path: str | PathLike[str]) -> bool:
    """Return whether the path is a file without content."""
    file = Path(path)
    return file.is_file() and file.stat().st_size == 0


class Passes:
    """Counts the passes over a path and refuses a second pass over a stream."""

    def __init__(self, path: str | PathLike[str]) -> None:
        self._path = path
        self._begun = False

    def begin(self) -> None:
        """Register a new pass."""
        if self._begun:
            refuse_stream(self._path)
        self._begun = True


def refuse_stream(path: str | PathLike[str]) -> None:
    """Raise InputError if the path is a stream. For files that are read more than once."""
    if is_stream(path):
        raise InputError(
            "this input is read more than once, so it cannot be a stream",
            path=display(path),
            fix="Save it to a file first",
        )


def lines(path: str | PathLike[str], *, reached: Callable[[int], None] | None = None) -> Iterator[Line]:
    """Yield ``(number, text)`` for each line of a UTF-8 file, plain, ``.gz`` or ``.xz``. ``-`` is stdin.

    A byte order mark and the CR of CRLF are removed. Only LF ends a line, so U+2028 or U+0085 inside a token
    is kept. Only one block is in memory, not the file. ``reached`` is called from time to time with the
    number of bytes read so far from the stored file.
    """
    name = display(path)
    first = True
    number = 1
    for block in _blocks(path, name, reached):
        data = block.removeprefix(codecs.BOM_UTF8) if first else block
        first = False
        yield from enumerate(_texts(data, number, name), number)
        number += block.count(b"\n")


def _texts(data: bytes, number: int, name: str) -> list[str]:
    """Return the lines of one block. ``number`` is the number of its first line."""
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise _undecodable(data, error.start, number, name) from None
    if "\0" in text:
        raise InputError(
            "NUL byte in a text file",
            path=name,
            line=number + text.count("\n", 0, text.index("\x00")),
            fix="The file is binary or damaged",
        )
    texts = text.split("\n")
    if not texts[-1]:
        texts.pop()
    if "\r" in text:
        texts = [line.removesuffix("\r") for line in texts]
    return texts


def _blocks(path: str | PathLike[str], name: str, reached: Callable[[int], None] | None) -> Iterator[bytes]:
    """Yield the bytes of a file in blocks that end at a line end (except possibly the last)."""
    held: list[bytes] = []
    size = 0
    with ExitStack() as stack:
        stored, stream = _opened(path, stack)
        while chunk := _chunk(stream, name):
            if reached is not None:
                reached(stored.tell())
            cut = chunk.rfind(b"\n") + 1
            if cut:
                yield b"".join([*held, chunk[:cut]])
                held, size = [], 0
            held.append(chunk[cut:])
            size += len(chunk) - cut
            if size > LONGEST_LINE:
                raise InputError(
                    f"line longer than {LONGEST_LINE >> 20} MiB",
                    path=name,
                    fix="Is this a text file?",
                )
    if size:
        yield b"".join(held)


def _chunk(stream: BinaryIO, name: str) -> bytes:
    with _reading(name):
        return stream.read(BLOCK)


@contextmanager
def open_bytes(path: str | PathLike[str]) -> Iterator[BinaryIO]:
    """Open a file for reading bytes, decompressing ``.gz`` and ``.xz``. Raise InputError on damage."""
    with ExitStack() as stack:
        _, stream = _opened(path, stack)
        with _reading(display(path)):
            yield stream


@contextmanager
def _reading(name: str) -> Iterator[None]:
    """Convert read errors to InputError."""
    try:
        yield
    except _DAMAGED as error:
        raise InputError(
            f"damaged compressed file: {error}",
            path=name,
            fix="Download or compress it again",
        ) from None
    except OSError as error:
        raise unreadable(Path(name), error) from None


def _opened(path: str | PathLike[str], stack: ExitStack) -> tuple[BinaryIO, BinaryIO]:
    """Return the stored file and a stream of its decompressed content.

    Standard input and pipes are not buffered: a read returns what has arrived, and waits only if nothing has.
    """
    if os.fspath(path) == STANDARD_INPUT:
        stream = getattr(sys.stdin.buffer, "raw", sys.stdin.buffer)
        return stream, stream
    file = Path(path)
    try:
        buffering = 0 if file.is_fifo() else -1
        stored: BinaryIO = stack.enter_context(file.open("rb", buffering=buffering))
    except (OSError, ValueError) as error:  # ValueError: a NUL in the name
        raise unreadable(file, error) from None
    if file.suffix == ".gz":
        return stored, cast(BinaryIO, stack.enter_context(gzip.open(stored, "rb")))
    if file.suffix == ".xz":
        return stored, cast(BinaryIO, stack.enter_context(lzma.open(stored, "rb")))
    return stored, stored


def unreadable(file: Path, error: OSError | ValueError) -> InputError:
    """Return the error for a file that could not be opened or read, with a fix."""
    if isinstance(error, FileNotFoundError):
        return InputError("file not found", path=file, fix=missing_advice(file) or "Check the name")
    if isinstance(error, IsADirectoryError):
        return InputError("expected a file, got a folder", path=file, fix=_inside(file))
    if isinstance(error, PermissionError):
        return InputError(
            "permission denied",
            path=file,
            fix=f"Run: chmod u+r {shlex.quote(str(file))}",
        )
    reason = (error.strerror if isinstance(error, OSError) else None) or str(error)
    return InputError(f"cannot read the file: {reason}", path=file)


def missing_advice(file: Path) -> str:
    """Return what may be wrong with the path of a missing file: its folder, or its name. Empty if unknown."""
    if not file.parent.is_dir():
        return f"The folder {file.parent} does not exist either"
    try:
        near = _similar(file.name, os.listdir(file.parent))
    except OSError:
        near = None
    return f"Did you mean {file.parent / near}?" if near else ""


def _similar(name: str, names: list[str]) -> str | None:
    """Return the most similar of the names, if its part before the suffixes is similar too."""
    stems = [other.partition(".")[0] for other in names]
    close = difflib.get_close_matches(name.partition(".")[0], stems, n=1)
    similar = [other for other, stem in zip(names, stems, strict=True) if stem in close]
    return next(iter(difflib.get_close_matches(name, similar, n=1, cutoff=0.0)), None)


def _inside(folder: Path) -> str:
    try:
        names = sorted(entry.name for entry in folder.iterdir() if entry.is_file())
    except OSError:
        names = []
    some = ", ".join(names[:5]) + (" …" if len(names) > 5 else "")
    return f"Name a file in it: {some}" if names else "Name a file"


def _undecodable(data: bytes, at: int, number: int, name: str) -> InputError:
    begin = data.rfind(b"\n", 0, at) + 1
    end = data.find(b"\n", at)
    line = data[begin : end if end >= 0 else len(data)]
    return InputError(
        f"invalid UTF-8: 0x{data[at]:02x} at byte {at - begin + 1} of the line",
        path=name,
        line=number + data.count(b"\n", 0, at),
        fix=_likely(data, line, name),
    )


def _likely(data: bytes, line: bytes, name: str) -> str:
    """Return a hint: the likely encoding and the command that converts it, or that the line is damaged.

    If the invalid byte is the only one that is not ASCII, it may be either.
    """
    damaged = b"\0" not in line and _mostly_utf8(data)
    if damaged and sum(byte > 127 for byte in data) > 1:
        return "The line has a damaged character. Correct the line and save the file as UTF-8"
    encoding = _encoding(data, line)
    if encoding is None:
        return "The file is binary or damaged"
    command = f"iconv -f {encoding} -t UTF-8"
    if name != display(STANDARD_INPUT):
        new = Path(name)  # the suffix stays the last, because it tells the format
        command += f" {shlex.quote(name)} > {shlex.quote(str(new.with_name(f'{new.stem}.utf8{new.suffix}')))}"
    if damaged:
        return f"Correct the character, or if the encoding is {encoding}, run: {command}"
    return f"The encoding may be {encoding}. Run: {command}"


def _mostly_utf8(data: bytes) -> bool:
    """Return whether few bytes are invalid compared with the other non-ASCII characters, or only one is.

    In a file of another encoding, valid UTF-8 sequences occur only by chance.
    """
    text = data.decode("utf-8", "surrogateescape")
    invalid = sum("\udc80" <= character <= "\udcff" for character in text)
    valid = sum(character > "\x7f" for character in text) - invalid
    return invalid == 1 or 4 * valid > invalid


def _encoding(data: bytes, line: bytes) -> str | None:
    if data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return "UTF-16"
    if b"\0" in line or len(CONTROLS.findall(data)) > MOST_CONTROLS * len(data):
        return None
    if _korean(line):
        return "CP949"
    # 0x80..0x9f are letters and quotes in Windows-1252 and control characters in Latin-1.
    return "WINDOWS-1252" if any(0x80 <= byte <= 0x9F for byte in line) else "LATIN1"


def _korean(line: bytes) -> bool:
    """Return whether the line decodes as CP949, mostly to Hangul and mostly from pairs of high bytes.

    An accented Latin-1 letter before an ASCII letter may decode to a rare syllable. Pairs of high bytes
    distinguish the two.
    """
    try:
        text = line.decode("cp949")
    except UnicodeDecodeError:
        return False
    foreign = [character for character in text if ord(character) > 127]
    hangul = sum("가" <= character <= "힣" for character in foreign)
    high = sum(byte > 127 for byte in line)
    return 2 * hangul >= len(foreign) and 2 * high > 3 * len(foreign)


def atomic_write(path: str | PathLike[str], data: bytes | str) -> None:
    """Write a file atomically: text as UTF-8, bytes as they are."""
    with atomic_file(path, "wb") as file:
        file.write(data.encode("utf-8") if isinstance(data, str) else data)


@contextmanager
def atomic_file(path: str | PathLike[str], mode: str = "w") -> Iterator[IO[Any]]:
    """Open a file for writing that replaces ``path`` only if the block succeeds.

    ``mode`` is ``"w"`` (UTF-8 text, LF) or ``"wb"``. On any error the temporary file is removed and ``path``
    is unchanged. A device or pipe (``/dev/stdout``) is written directly.
    """
    if mode not in ("w", "wb"):
        raise OutputError(f"invalid mode {mode!r}. Use 'w' or 'wb'")
    target = _target(path)
    if target.exists() and not stat.S_ISREG(target.stat().st_mode):
        with _translated(path, str(target)), _stream(str(target), mode) as file:
            yield file
        return
    with atomic_path(path) as temporary, _stream(str(temporary), mode) as file:
        yield file


@contextmanager
def atomic_path(path: str | PathLike[str]) -> Iterator[Path]:
    """Yield an empty temporary file that replaces ``path`` if the block succeeds.

    For libraries that open files themselves. The file must be closed before the block ends.
    """
    target = _target(path)
    if target.exists() and not stat.S_ISREG(target.stat().st_mode):
        raise OutputError(f"cannot write {path}: it is a device or a pipe. Name a file")
    temporary = target.with_name(f"{PREFIX}{secrets.token_hex(6)}{SUFFIX}")
    try:
        with _translated(path, str(temporary)):
            _create(temporary, target)
            yield temporary
            _sync(temporary)
            if target.exists():
                os.chmod(temporary, stat.S_IMODE(target.stat().st_mode))
            os.replace(temporary, target)
            _sync_folder(target.parent)
    except BaseException:
        with suppress(OSError):
            temporary.unlink()
        raise


def _target(path: str | PathLike[str]) -> Path:
    """Return the file to write, with links resolved."""
    target = Path(os.path.realpath(path))
    if target.is_dir():
        raise OutputError(f"cannot write {path}: it is a folder. Name a file in it")
    return target


def make_folder(folder: Path) -> None:
    """Create a folder and its parents if they do not exist."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise OutputError(
            f"cannot create folder {folder}: {error.strerror}. Choose another folder"
        ) from error


def remove_leftovers(folder: Path) -> None:
    """Delete temporary files of killed writers in ``folder``. No writer may be active there."""
    for left in folder.glob(f"{PREFIX}*{SUFFIX}"):
        with suppress(OSError):
            left.unlink()


def _stream(file: str, mode: str) -> IO[Any]:
    if mode == "wb":
        return open(file, "wb")
    return open(file, "w", encoding="utf-8", newline="\n")


def _create(temporary: Path, target: Path) -> None:
    """Create a new file with permissions at most those of its target, but writable by its owner."""
    os.close(os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666))
    if target.exists():
        os.chmod(temporary, stat.S_IMODE(target.stat().st_mode) | stat.S_IWUSR)


def _sync(file: Path) -> None:
    """Sync a file to disk before it is renamed."""
    with file.open("r+b") as stream:
        os.fsync(stream.fileno())


def _sync_folder(folder: Path) -> None:
    """Sync a folder so that a rename survives a power failure. Some systems cannot sync folders."""
    if os.name != "posix":
        return
    with suppress(OSError):
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


@contextmanager
def _translated(path: str | PathLike[str], *own: str) -> Iterator[None]:
    """Convert an ``OSError`` on the files ``own`` to ``OutputError``. Errors on other files pass through."""
    try:
        yield
    except OSError as error:
        if error.filename is not None and os.fspath(error.filename) not in (*own, *_folders(own)):
            raise
        raise OutputError(_unwritable(path, error)) from error


def _folders(names: tuple[str, ...]) -> list[str]:
    return [os.path.dirname(name) for name in names]


def _unwritable(path: str | PathLike[str], error: OSError) -> str:
    folder = os.path.dirname(os.path.abspath(path))
    reasons = {
        errno.ENOSPC: "the disk is full. Free some space or write elsewhere",
        errno.EDQUOT: "your disk quota is used up. Free some space or write elsewhere",
        errno.EACCES: f"no permission to write in {folder}. Choose another folder",
        errno.EPERM: f"no permission to write in {folder}. Choose another folder",
        errno.EROFS: f"{folder} is read-only. Choose another folder",
        errno.ENOENT: f"folder {folder} does not exist. Run: mkdir -p {shlex.quote(folder)}",
        errno.ENOTDIR: f"{folder} is not a folder. Choose another folder",
    }
    why = reasons.get(error.errno or 0) or error.strerror or str(error)
    if not os.path.exists(path):
        return f"cannot write {path}: {why}"
    return f"cannot write {path}: {why}. Its earlier content is unchanged"
