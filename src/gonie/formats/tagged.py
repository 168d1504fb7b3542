"""Reading, surveying and writing files of tagged sentences, with format detection and a report.

The formats are in ``table``.
"""

from __future__ import annotations

import gzip
import lzma
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, replace
from itertools import chain, islice
from os import PathLike
from pathlib import Path
from typing import IO, Any, cast

from gonie.errors import InputError
from gonie.formats.format import ReadOptions, TaggedFormat
from gonie.formats.table import FORMATS
from gonie.system.files import Line, Passes, atomic_file, display, is_stream, lines
from gonie.text.report import Report
from gonie.text.schemes import IOB2, Checker, Detection, Policy, Scheme, TagTally, repair, scheme_named
from gonie.text.types import Sentence

PEEK = 200
"""The number of first lines used to detect the format."""


def format_named(name: str) -> TaggedFormat:
    """Return the format with this name."""
    if name not in FORMATS:
        raise InputError(f"unknown format {name!r}", fix=f"Choose one of {', '.join(FORMATS)}")
    return FORMATS[name]


def detect_format(path: str | PathLike[str]) -> str:
    """Return the name of a file's format, from its suffix or else its first lines."""
    return _detected(display(path), list(islice(lines(path), PEEK)))[0]


def _detected(path: str, head: list[Line]) -> tuple[str, str]:
    """Return the format and the reason for it."""
    suffixes = [suffix for suffix in Path(path).suffixes if suffix not in (".gz", ".xz")]
    for name, known in FORMATS.items():
        if suffixes and suffixes[-1] in known.suffixes:
            return name, f"by the suffix {suffixes[-1]}"
    filled = [text for _, text in head if text.strip()]
    found = ((name, format.recognise(filled)) for name, format in FORMATS.items())
    return next((name, reason) for name, reason in found if reason is not None)


# --- reading ---------------------------------------------------------------------------------------------


def read(path: str | PathLike[str], options: ReadOptions, report: Report) -> Iterator[Sentence]:
    """Yield the sentences of a file as it is read. ``report`` is complete after the last one.

    A file without any sentence is refused.
    """
    name = display(path)
    report.path = name
    rows: Iterator[Line] = lines(path)
    head = list(islice(rows, PEEK))
    if not head:
        raise InputError("empty file", path=name)
    kind, reason = (options.format, "as given") if options.format != "auto" else _detected(name, head)
    report.choose("format", kind, reason)
    sentences = format_named(kind).read(chain(head, rows), options, report)
    yield from _checked(sentences, options, report) if options.scheme != "auto" else sentences
    if not report.sentences:
        raise InputError("no sentences in the file", path=name)


def _checked(sentences: Iterable[Sentence], options: ReadOptions, report: Report) -> Iterator[Sentence]:
    """Yield the sentences with valid tags, repaired by the policy."""
    scheme = scheme_named(options.scheme) if isinstance(options.scheme, str) else options.scheme
    checker = Checker(scheme=scheme)
    for sentence in sentences:
        if sentence.tags is None or not checker.problems(sentence.tags):
            yield sentence
            continue
        places = [f"{sentence.path}:{row}" for row in report.rows]
        tags, changed = repair(sentence.tags, scheme, options.repair, places=places)
        report.repairs[options.repair] += changed
        yield replace(sentence, tags=tuple(tags))


class TaggedSource:
    """A file with its options that can be iterated repeatedly. ``report`` is from the latest pass."""

    def __init__(self, path: str | PathLike[str], options: ReadOptions | None = None) -> None:
        self.path = path
        self.options = options or ReadOptions()
        self.report = Report(path=display(path))
        self._passes = Passes(path)  # shared by all views of the file

    def __iter__(self) -> Iterator[Sentence]:
        self._passes.begin()
        self.report = Report(path=display(self.path))
        return read(self.path, self.options, self.report)

    def with_scheme(self, scheme: Scheme, policy: Policy) -> TaggedSource:
        """Return the same file with its tags checked against a scheme and repaired by a policy."""
        return self.with_options(scheme=scheme, repair=policy)

    def with_options(self, **changes: Any) -> TaggedSource:
        """Return the same file with some options changed."""
        view = TaggedSource(self.path, replace(self.options, **changes))
        view._passes = self._passes
        return view


@dataclass(frozen=True, slots=True)
class InvalidTag:
    """An invalid tag and its position (``file:line``)."""

    place: str
    tag: str
    reason: str

    def __str__(self) -> str:
        return f"{self.place}: {self.tag} {self.reason}"


@dataclass(frozen=True, slots=True)
class Survey:
    """The result of one pass over a whole file.

    ``problems`` are the first invalid tags; ``detection.invalid`` counts all. ``untagged`` counts sentences.
    """

    scheme: Scheme
    detection: Detection
    labels: Counter[str]
    sentences: int
    tokens: int
    untagged: int
    problems: list[InvalidTag]
    report: Report


def survey(source: TaggedSource, *, shown: int = 20) -> Survey:
    """Count the tags of a file and detect their scheme. A second pass locates invalid tags, if any."""
    scheme = source.options.scheme
    plain_source = source.with_options(scheme="auto")
    tally = TagTally()
    untagged = 0
    for sentence in plain_source:
        if sentence.tags is None:
            untagged += 1
        else:
            tally.add(sentence.tags)
    report = plain_source.report
    detection = tally.detect() if scheme == "auto" else _with_given_scheme(tally, scheme)
    source.report = report
    if tally.sequences:
        report.choose("scheme", str(detection.scheme), detection.reason)
    again = detection.invalid and not is_stream(source.path)
    problems = _locate(plain_source, detection.scheme, shown) if again else []
    return Survey(
        scheme=detection.scheme,
        detection=detection,
        labels=Counter(detection.counts),
        sentences=report.sentences,
        tokens=report.tokens,
        untagged=untagged,
        problems=problems,
        report=report,
    )


def _with_given_scheme(tally: TagTally, scheme: Scheme | str) -> Detection:
    scheme = scheme_named(scheme) if isinstance(scheme, str) else scheme
    return Detection(scheme, tally.counts(), tally.invalid(scheme), "as given")


def _locate(source: TaggedSource, scheme: Scheme, shown: int) -> list[InvalidTag]:
    """Return the first invalid tags of a file, with their lines."""
    checker = Checker(scheme=scheme)
    found: list[InvalidTag] = []
    for sentence in source:
        rows = source.report.rows
        for problem in checker.problems(sentence.tags or ()):
            found.append(InvalidTag(f"{sentence.path}:{rows[problem.index]}", problem.tag, problem.reason))
        if len(found) >= shown:
            break
    return found[:shown]


# --- writing ---------------------------------------------------------------------------------------------


def write(
    path: str | PathLike[str], sentences: Iterable[Sentence], format: str, *, scheme: Scheme = IOB2
) -> int:
    """Write sentences to a file atomically, compressed according to its suffix. Return their number.

    ``scheme`` is the scheme of their tags, which formats with character spans need.
    """
    writer = format_named(format).write
    number = 0

    def counted() -> Iterator[Sentence]:
        nonlocal number
        for sentence in sentences:
            number += 1
            yield sentence

    with atomic_file(path, "wb") as file, _compressed(path, file) as stream:
        for text in writer(counted(), scheme):
            stream.write(text.encode("utf-8"))
    return number


def _compressed(path: str | PathLike[str], file: IO[bytes]) -> AbstractContextManager[IO[bytes]]:
    """Return a stream that compresses according to the suffix. Equal content gives equal bytes."""
    suffix = Path(path).suffix
    if suffix == ".gz":
        return cast(IO[bytes], gzip.GzipFile(filename="", mode="wb", fileobj=file, mtime=0))
    if suffix == ".xz":
        return cast(IO[bytes], lzma.LZMAFile(file, "wb"))
    return nullcontext(file)
