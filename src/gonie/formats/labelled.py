"""The one table of text formats, and the one way to read them.

A new format is its own file with a function from lines to rows, its test, and one line in ``TEXT_FORMATS``.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import chain, islice
from os import PathLike
from pathlib import Path
from typing import Any

from gonie.errors import InputError
from gonie.formats.labelled_jsonl import read_records
from gonie.formats.labelled_tables import first_row, read_csv, read_tsv
from gonie.formats.parallel_files import is_parallel, read_parallel
from gonie.formats.semeval import MARKS, is_sentence, read_task8
from gonie.system.files import Line, Passes, display, lines
from gonie.text.labelled_text import LabelledRow, LabelledText, TextOptions
from gonie.text.marks import cut_marks
from gonie.text.report import Report

PARALLEL = "parallel"
EMPTY = "rows with an empty text"
_OBJECT = re.compile(r'\s*\{\s*["}]')

Reader = Callable[[Iterable[Line], TextOptions, Report], Iterator[LabelledRow]]


@dataclass(frozen=True, slots=True)
class TextFormat:
    """A format: how its lines are read (not by lines where None), its suffixes, and a line for help pages."""

    reader: Reader | None
    suffixes: tuple[str, ...]
    description: str


TEXT_FORMATS: Mapping[str, TextFormat] = {
    "tsv": TextFormat(read_tsv, (".tsv",), "a table with tabs, quoting off"),
    "csv": TextFormat(read_csv, (".csv",), "a table with commas and quotation marks"),
    "jsonl": TextFormat(read_records, (".jsonl", ".ndjson"), "one JSON object a line"),
    "semeval": TextFormat(read_task8, (), "SemEval-2010 task 8: sentences, two nominals marked"),
    PARALLEL: TextFormat(None, (), "a folder with seq.in and label, line by line"),
}


def read_texts(path: str | PathLike[str], options: TextOptions, report: Report) -> Iterator[LabelledText]:
    """Yield the texts of a file as it is read; ``report`` is complete when the last one has come.

    A text that is empty is left out and counted. A file without a text is refused.
    """
    report.path = display(path)
    if options.format not in ("auto", *TEXT_FORMATS):
        raise InputError(
            expected=f"a format of texts among {', '.join(TEXT_FORMATS)}", got=repr(options.format)
        )
    kind, reason, rows = _opened(path, options, report)
    report.choose("format", kind, reason)
    if options.label_column is None:
        report.choose("labels", "none", "not asked for")
    names = options.marks or (MARKS if kind == "semeval" else ())
    for line, raw, labels in rows:
        text, marks = cut_marks(raw, names, path=report.path, line=line)
        if not text.strip():
            report.skipped[EMPTY] += 1
            continue
        report.texts += 1
        yield LabelledText(text, labels, marks, report.path, line)
    if not report.texts:
        raise InputError(path=report.path, expected="at least one text", got="none in the whole file")


def _opened(
    path: str | PathLike[str], options: TextOptions, report: Report
) -> tuple[str, str, Iterator[LabelledRow]]:
    """The format, the reason for it, and the rows to come."""
    asked = None if options.format == "auto" else options.format
    folder = Path(path)
    if asked == PARALLEL or (asked is None and is_parallel(folder)):
        reason = "as asked" if asked else "a folder with seq.in"
        return PARALLEL, reason, read_parallel(folder, options, report)
    content = lines(path)
    head = list(islice(content, 1))
    if not head:
        raise InputError(path=report.path, expected="at least one text", got="an empty file")
    kind, reason = (asked, "as asked") if asked else _detected(report.path, head[0][1], options)
    reader = TEXT_FORMATS[kind].reader
    assert reader is not None  # parallel files were seen to above
    return kind, reason, reader(chain(head, content), options, report)


def _detected(path: str, first: str, options: TextOptions) -> tuple[str, str]:
    """The format and the reason for it: the suffix, else the first line."""
    suffixes = [suffix for suffix in Path(path).suffixes if suffix not in (".gz", ".xz")]
    for name, known in TEXT_FORMATS.items():
        if suffixes and suffixes[-1] in known.suffixes:
            return name, f"by the suffix {suffixes[-1]}"
    if _OBJECT.match(first):
        return "jsonl", "the first line is a JSON object"
    if is_sentence(first):
        return "semeval", "the first line is a number, a tab and a sentence with marks"
    if "\t" not in first and options.text_column in first_row(first):
        return "csv", f"the first line has {options.text_column} between commas"
    return "tsv", "tabs in the first line" if "\t" in first else "no other format fits"


class LabelledSource:
    """One file with its options, to be gone over any number of times; ``report`` is of the latest pass."""

    def __init__(self, path: str | PathLike[str], options: TextOptions | None = None) -> None:
        self.path = path
        self.options = options or TextOptions()
        self.report = Report(path=display(path))
        self._passes = Passes(path)

    def __iter__(self) -> Iterator[LabelledText]:
        self._passes.begin()
        self.report = Report(path=display(self.path))
        return read_texts(self.path, self.options, self.report)

    def viewed(self, **changes: Any) -> LabelledSource:
        """The same file with some options changed."""
        view = LabelledSource(self.path, replace(self.options, **changes))
        view._passes = self._passes
        return view
