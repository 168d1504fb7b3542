"""Tokenise text files into a ``TokenStream`` once, reusing what is already done.

    stream.json, *.bin      the complete stream
    parts/DIGEST/           until then: each finished file, named by its bytes and the tokenizer

An interruption loses at most the file in progress. The same files and tokenizer give the same bytes, whatever
the number of workers or interruptions.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from gonie.errors import InputError, OutputError
from gonie.features.lm_text.block_workers import TokeniseBlocks, block_workers, worker_count
from gonie.features.lm_text.blocks import MOST_TOKENS, blocks
from gonie.features.lm_text.merge import merge
from gonie.features.lm_text.paragraphs import LONGEST, read_paragraphs
from gonie.features.lm_text.part import PartWriter
from gonie.features.lm_text.stream import FORMAT, TokenStream
from gonie.system.files import display, refuse_stream, unreadable
from gonie.system.folder_lock import folder_lock
from gonie.system.parquet import SUFFIX as PARQUET
from gonie.text.report import Report, count
from gonie.text.tokenizers.settings import TokenizerSettings

PARTS = "parts"
PAUSE = 0.5
"""Seconds between two progress reports."""

LARGE = 1 << 30
"""Size in bytes from which computing a file's digest takes long enough to be reported."""

Note = Callable[[str], None]


class TokenisingProgress(NamedTuple):
    """Progress: the words so far, and the bytes read of the ``total`` bytes of all files, as stored."""

    file: Path
    words: int
    read: int
    total: int


class _Source(NamedTuple):
    """A file to tokenise: its size as stored, and the name of its part."""

    path: Path
    size: int
    digest: str


def build_stream(
    paths: Sequence[Path],
    folder: Path,
    *,
    language: str,
    unit: str,
    column: str = "text",
    tokenised: bool = False,
    workers: int = 0,
    note: Note,
    advance: Callable[[TokenisingProgress], None] | None = None,
) -> TokenStream:
    """Tokenise the files, in order, into ``folder``, or open the finished stream there.

    ``tokenised`` text has one sentence per line, with space-separated tokens. ``column`` is for Parquet
    files. ``workers`` is the number of processes; 0 chooses automatically. The result does not depend on it.
    A stream of other text in ``folder`` is replaced.
    """
    if not paths:
        raise InputError("no text files", fix="Pass at least one file")
    settings = TokenizerSettings(language, unit, tokenised)
    rules = settings.tokenizer().to_json()
    sources = [_source(path, rules, column, note) for path in paths]
    fingerprint = _digest(*(source.digest for source in sources))
    parts = folder / PARTS
    stream = _found(folder, fingerprint)
    if stream is not None:
        note(f"{folder}: already tokenised, {count(stream.words, 'word')}")
        _sweep(parts)
        return stream
    _make(parts)
    with folder_lock(parts, refusal=_busy(folder)):
        builder = _PartBuilder(parts, sources, settings, column)
        made = builder.parts(workers, note, _Progress(sum(source.size for source in sources), advance))
        note(f"{count(sum(part.words for part in made), 'word')}; sorting them by frequency")
        stream = merge(made, folder, language=language, unit=unit, fingerprint=fingerprint)
        shutil.rmtree(parts, ignore_errors=True)
    return stream


class _Progress:
    """Report the progress over all files about twice a second."""

    def __init__(self, total: int, advance: Callable[[TokenisingProgress], None] | None) -> None:
        self._total = total
        self._advance = advance
        self._words = 0
        self._done = 0  # bytes of the previous files
        self._place = 0  # bytes of the current file
        self._reported = time.monotonic()

    def reached(self, place: int) -> None:
        """Set the number of bytes read of the current file."""
        self._place = place

    def words(self, path: Path, more: int) -> None:
        """Add to the number of tokenised words."""
        self._words += more
        if time.monotonic() - self._reported >= PAUSE:
            self._report(path)

    def finished(self, source: _Source) -> None:
        """Record that a file is finished."""
        self._done += source.size
        self._place = 0
        self._report(source.path)

    def _report(self, path: Path) -> None:
        self._reported = time.monotonic()
        if self._advance is not None:
            self._advance(TokenisingProgress(path, self._words, self._done + self._place, self._total))


@dataclass(frozen=True)
class _PartBuilder:
    """Build the parts of files."""

    folder: Path
    sources: Sequence[_Source]
    settings: TokenizerSettings
    column: str

    def parts(self, workers: int, note: Note, progress: _Progress) -> list[TokenStream]:
        """Return the part of each file. Existing parts are opened."""
        missing = {source.digest: source.size for source in self.sources if self._found(source) is None}
        number = worker_count(workers, self.settings, size=sum(missing.values())) if missing else 1
        with block_workers(number, self.settings) as tokenise:
            return [self._part(source, tokenise, note, progress) for source in self.sources]

    def _part(
        self, source: _Source, tokenise: TokeniseBlocks, note: Note, progress: _Progress
    ) -> TokenStream:
        part = self._found(source)
        if part is None:
            part = self._made(source, tokenise, note, progress)
        else:
            progress.words(source.path, part.words)
        progress.finished(source)
        return part

    def _found(self, source: _Source) -> TokenStream | None:
        return _found(self.folder / source.digest, source.digest)

    def _made(
        self, source: _Source, tokenise: TokeniseBlocks, note: Note, progress: _Progress
    ) -> TokenStream:
        report = Report()
        paragraphs = read_paragraphs(source.path, column=self.column, report=report, reached=progress.reached)
        writer = PartWriter(self.folder / source.digest)
        for block in tokenise(blocks(paragraphs)):
            writer.append(block)
            if block.cut:
                report.noticed[f"sentences longer than {MOST_TOKENS} tokens, split"] += block.cut
            progress.words(source.path, block.words)
        for fact, number in report.noticed.most_common():
            note(f"{display(source.path)}: {number:,} {fact}")
        settings = self.settings
        return writer.finish(language=settings.language, unit=settings.unit, fingerprint=source.digest)


def _source(path: Path, rules: Mapping[str, Any], column: str, note: Note) -> _Source:
    """Return the file with a digest of everything that its part depends on."""
    refuse_stream(path)
    try:
        with path.open("rb") as file:
            size = os.fstat(file.fileno()).st_size
            if size >= LARGE:
                note(f"{display(path)}: reading {size / 1e9:.1f} GB to check whether it is already tokenised")
            content = hashlib.file_digest(file, "sha256").hexdigest()
    except (OSError, ValueError) as error:  # ValueError: a NUL in the name
        raise unreadable(path, error) from None
    kind = path.suffix if path.suffix in (".gz", ".xz", PARQUET) else ""
    read = {**rules, "fold": True, "kind": kind, "column": column if kind == PARQUET else ""}
    return _Source(path, size, _digest(content, json.dumps(read), f"{FORMAT} {MOST_TOKENS} {LONGEST}"))


def _digest(*texts: str) -> str:
    return hashlib.sha256("\n".join(texts).encode()).hexdigest()


def _found(folder: Path, fingerprint: str) -> TokenStream | None:
    """Return the stream in a folder if it is complete and has that fingerprint."""
    try:
        stream = TokenStream.open(folder)
    except InputError:
        return None
    return stream if stream.fingerprint == fingerprint else None


def _make(folder: Path) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise OutputError(f"cannot write tokenised text to {folder.parent}: {error.strerror}") from error


def _sweep(parts: Path) -> None:
    """Remove the leftovers of a build that was killed at its end, unless another process uses them."""
    with suppress(OSError, OutputError), folder_lock(parts, refusal=_busy(parts.parent)):
        shutil.rmtree(parts)


def _busy(folder: Path) -> OutputError:
    return OutputError(
        f"another process is writing tokenised text to {folder}. Wait for it to finish, or stop it first"
    )
