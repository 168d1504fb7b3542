"""The one table of file formats, and the one way to read and write them.

A new format is its own file with ``read`` and ``write``, its test, and one line in ``FORMATS``.
"""

from __future__ import annotations

import gzip
import lzma
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field, replace
from itertools import chain, islice
from os import PathLike
from pathlib import Path
from typing import IO, Any, cast

from gonie.errors import InputError
from gonie.formats import conll as columns
from gonie.formats import conllu, jsonl, klue
from gonie.formats import tagged_tsv as tables
from gonie.formats.jsonl import Tokenizer
from gonie.system.files import Line, Passes, atomic_file, display, is_stream, lines
from gonie.text.report import Report
from gonie.text.schemes import IOB2, Checker, Detection, Policy, Scheme, TagTally, named, repair
from gonie.text.types import Sentence

PEEK = 200
"""Lines that decide what format a file is."""

_OBJECT = re.compile(r'\s*\{\s*["}]')


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadOptions:
    """How to read a file. What is left alone is detected and reported.

    ``tag_column`` is an index, or in CoNLL-U also a field's name or ``misc:Key``. ``tokenizer`` cuts raw text
    (JSONL). With a ``scheme``, or its name, the tags are checked while reading, and ``repair`` says what
    becomes of invalid ones; under ``"auto"`` they come as they are (``survey`` finds the scheme).
    """

    format: str = "auto"
    separator: str = "auto"
    word_column: int | None = None
    tag_column: int | str | None = None
    columns: Mapping[str, int] = field(default_factory=dict)
    tokenizer: Tokenizer | None = None
    scheme: Scheme | str = "auto"
    repair: Policy = "error"


Reader = Callable[[Iterable[Line], ReadOptions, Report], Iterator[Sentence]]
Writer = Callable[[Iterable[Sentence], Scheme], Iterator[str]]


@dataclass(frozen=True, slots=True)
class Format:
    """A format: how it is read and written, the suffixes that name it, and a line for help pages."""

    reader: Reader
    writer: Writer
    suffixes: tuple[str, ...]
    description: str


def _read_columns(rows: Iterable[Line], options: ReadOptions, report: Report) -> Iterator[Sentence]:
    if isinstance(options.tag_column, str):
        raise InputError(
            path=report.path, expected="the tag column as a number", got=repr(options.tag_column)
        )
    return columns.read(
        rows,
        report=report,
        separator=options.separator,
        word_column=options.word_column,
        tag_column=options.tag_column,
        columns=options.columns,
    )


def _read_conllu(rows: Iterable[Line], options: ReadOptions, report: Report) -> Iterator[Sentence]:
    return conllu.read(rows, report=report, tag_column=options.tag_column, columns=options.columns)


def _read_jsonl(rows: Iterable[Line], options: ReadOptions, report: Report) -> Iterator[Sentence]:
    return jsonl.read(rows, report=report, tokenizer=options.tokenizer)


def _read_tsv(rows: Iterable[Line], options: ReadOptions, report: Report) -> Iterator[Sentence]:
    return tables.read_sentences(rows, report=report)


def _read_klue(rows: Iterable[Line], options: ReadOptions, report: Report) -> Iterator[Sentence]:
    return klue.read(rows, report=report, policy=options.repair)


def _write_conllu(sentences: Iterable[Sentence], scheme: Scheme) -> Iterator[str]:
    return conllu.write(sentences, tag_column="misc:NER" if scheme.has_spans else "upos")


FORMATS: Mapping[str, Format] = {
    "conll": Format(
        _read_columns,
        lambda sentences, scheme: columns.write(sentences),
        (".conll", ".iob", ".iob2", ".bio"),
        "one token a line in columns, blank lines between sentences",
    ),
    "conllu": Format(_read_conllu, _write_conllu, (".conllu",), "Universal Dependencies' ten columns"),
    "jsonl": Format(
        _read_jsonl,
        lambda sentences, scheme: jsonl.write(sentences, scheme=scheme),
        (".jsonl", ".ndjson"),
        "one JSON object a line: a text and its character spans",
    ),
    "tsv": Format(
        _read_tsv,
        lambda sentences, scheme: tables.write_sentences(sentences),
        (),
        "one sentence a line: tokens, a tab, tags",
    ),
    "klue": Format(
        _read_klue,
        lambda sentences, scheme: klue.write(sentences, scheme=scheme),
        (),
        "KLUE's one character a line with ## headers",
    ),
}


def format_named(name: str) -> Format:
    """The format of that name."""
    if name not in FORMATS:
        raise InputError(expected=f"a format among {', '.join(FORMATS)}", got=repr(name))
    return FORMATS[name]


def detect_format(path: str | PathLike[str]) -> str:
    """The name of a file's format, by its suffix, else by its first lines."""
    return _detected(display(path), list(islice(lines(path), PEEK)))[0]


def _detected(path: str, head: list[Line]) -> tuple[str, str]:
    """The format and the reason for it."""
    suffixes = [suffix for suffix in Path(path).suffixes if suffix not in (".gz", ".xz")]
    for name, known in FORMATS.items():
        if suffixes and suffixes[-1] in known.suffixes:
            return name, f"by the suffix {suffixes[-1]}"
    filled = [text for _, text in head if text.strip()]
    if filled and _OBJECT.match(filled[0]):
        return "jsonl", "the first line is a JSON object"
    if _is_klue(filled):
        return "klue", "## headers and one character a line"
    rows = [text.split("\t") for text in filled if not text.startswith("#")]
    if rows and all(len(row) == len(conllu.FIELDS) and row[0][:1].isdigit() for row in rows):
        return "conllu", "ten columns, the first a number"
    if rows and all(map(_is_tagged_line, rows)) and any(" " in row[0] for row in rows):
        return "tsv", "each line has as many words before its tab as after it"
    return "conll", "one token a line"


def _is_klue(filled: list[str]) -> bool:
    body = [text.split("\t") for text in filled if not text.startswith(klue.HEADER)]
    headed = any(text.startswith(klue.HEADER + " ") for text in filled)
    return headed and bool(body) and all(len(row) == 2 and len(row[0]) == 1 for row in body)


def _is_tagged_line(row: list[str]) -> bool:
    return len(row) == 2 and len(row[0].split()) == len(row[1].split())


# --- reading ---------------------------------------------------------------------------------------------


def read(path: str | PathLike[str], options: ReadOptions, report: Report) -> Iterator[Sentence]:
    """Yield the sentences of a file as it is read; ``report`` is complete when the last one has come.

    A file without a sentence is refused.
    """
    name = display(path)
    report.path = name
    rows: Iterator[Line] = lines(path)
    head = list(islice(rows, PEEK))
    if not head:
        raise InputError(path=name, expected="at least one sentence", got="an empty file")
    kind, reason = (options.format, "as asked") if options.format != "auto" else _detected(name, head)
    report.choose("format", kind, reason)
    sentences = format_named(kind).reader(chain(head, rows), options, report)
    yield from _checked(sentences, options, report) if options.scheme != "auto" else sentences
    if not report.sentences:
        raise InputError(path=name, expected="at least one sentence", got="none in the whole file")


def _checked(sentences: Iterable[Sentence], options: ReadOptions, report: Report) -> Iterator[Sentence]:
    """The sentences with valid tags, by the repair policy."""
    scheme = named(options.scheme) if isinstance(options.scheme, str) else options.scheme
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
    """One file with its options, to be gone over any number of times; ``report`` is of the latest pass."""

    def __init__(self, path: str | PathLike[str], options: ReadOptions | None = None) -> None:
        self.path = path
        self.options = options or ReadOptions()
        self.report = Report(path=display(path))
        self._passes = Passes(path)  # shared by all views of the file

    def __iter__(self) -> Iterator[Sentence]:
        self._passes.begin()
        self.report = Report(path=display(self.path))
        return read(self.path, self.options, self.report)

    def using(self, scheme: Scheme, policy: Policy) -> TaggedSource:
        """The same file, its tags checked against a scheme and repaired by a policy."""
        return self.viewed(scheme=scheme, repair=policy)

    def viewed(self, **changes: Any) -> TaggedSource:
        """The same file with some options changed."""
        view = TaggedSource(self.path, replace(self.options, **changes))
        view._passes = self._passes
        return view


@dataclass(frozen=True, slots=True)
class Located:
    """An invalid tag and where it stands (``file:line``)."""

    place: str
    tag: str
    reason: str

    def __str__(self) -> str:
        return f"{self.place}: {self.tag} {self.reason}"


@dataclass(frozen=True, slots=True)
class Survey:
    """What one look over a whole file found.

    ``problems`` are the first invalid tags, ``detection.invalid`` counts all; ``untagged`` counts sentences.
    """

    scheme: Scheme
    detection: Detection
    labels: Counter[str]
    sentences: int
    tokens: int
    untagged: int
    problems: list[Located]
    report: Report


def survey(source: TaggedSource, *, shown: int = 20) -> Survey:
    """Count a file's tags and find their scheme; a second pass locates the invalid ones, if there are any."""
    scheme = source.options.scheme
    plain_source = source.viewed(scheme="auto")
    tally = TagTally()
    untagged = 0
    for sentence in plain_source:
        if sentence.tags is None:
            untagged += 1
        else:
            tally.add(sentence.tags)
    report = plain_source.report
    detection = tally.detect() if scheme == "auto" else _judged(tally, scheme)
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


def _judged(tally: TagTally, scheme: Scheme | str) -> Detection:
    scheme = named(scheme) if isinstance(scheme, str) else scheme
    return Detection(scheme, tally.counts(), tally.invalid(scheme), "as asked")


def _locate(source: TaggedSource, scheme: Scheme, shown: int) -> list[Located]:
    """The first invalid tags of a file, with their lines."""
    checker = Checker(scheme=scheme)
    found: list[Located] = []
    for sentence in source:
        rows = source.report.rows
        for problem in checker.problems(sentence.tags or ()):
            found.append(Located(f"{sentence.path}:{rows[problem.index]}", problem.tag, problem.reason))
        if len(found) >= shown:
            break
    return found[:shown]


# --- writing ---------------------------------------------------------------------------------------------


def write(
    path: str | PathLike[str], sentences: Iterable[Sentence], format: str, *, scheme: Scheme = IOB2
) -> int:
    """Write sentences to a file, whole or not at all, compressed if the suffix says so; returns their number.

    ``scheme`` is that of their tags; formats with character spans need it.
    """
    writer = format_named(format).writer
    number = 0

    def counted() -> Iterator[Sentence]:
        nonlocal number
        for sentence in sentences:
            number += 1
            yield sentence

    with atomic_file(path, "wb") as file, _packed(path, file) as stream:
        for text in writer(counted(), scheme):
            stream.write(text.encode("utf-8"))
    return number


def _packed(path: str | PathLike[str], file: IO[bytes]) -> AbstractContextManager[IO[bytes]]:
    """The stream that compresses into the file if its name asks for it; the same content, the same bytes."""
    suffix = Path(path).suffix
    if suffix == ".gz":
        return cast(IO[bytes], gzip.GzipFile(filename="", mode="wb", fileobj=file, mtime=0))
    if suffix == ".xz":
        return cast(IO[bytes], lzma.LZMAFile(file, "wb"))
    return nullcontext(file)
