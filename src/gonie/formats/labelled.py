"""Reading files of labelled texts, with format detection and a report.

The formats are in ``table``.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import chain, islice
from os import PathLike
from pathlib import Path
from typing import Any

from gonie.errors import InputError
from gonie.formats.table import TEXT_FORMATS
from gonie.system.files import Passes, display, lines
from gonie.text.labelled_text import LabelledRow, LabelledText, TextOptions
from gonie.text.marks import cut_marks
from gonie.text.report import Report

EMPTY = "rows with an empty text"
UNLABELLED = "texts without a label"


def read_texts(path: str | PathLike[str], options: TextOptions, report: Report) -> Iterator[LabelledText]:
    """Yield the texts of a file as it is read. ``report`` is complete after the last one.

    Empty texts and texts without a label are skipped and counted. A file without any text is refused.
    """
    report.path = display(path)
    if options.format not in ("auto", *TEXT_FORMATS):
        raise InputError(
            f"unknown format {options.format!r}", fix=f"Choose one of {', '.join(TEXT_FORMATS)}, or auto"
        )
    kind, reason, rows = _opened(path, options, report)
    report.choose("format", kind, reason)
    if options.label_column is None:
        report.choose("labels", "none", "not requested")
    names = options.marks or TEXT_FORMATS[kind].marks
    for line, raw, labels in rows:
        text, marks = cut_marks(raw, names, path=report.path, line=line)
        if not text.strip():
            report.skipped[EMPTY] += 1
            continue
        if labels is None:
            report.skipped[UNLABELLED] += 1
            continue
        report.texts += 1
        yield LabelledText(text, labels, marks, report.path, line)
    if not report.texts:
        unlabelled = report.skipped[UNLABELLED]
        raise InputError(
            f"no text has a label under {options.label_column!r}" if unlabelled else "no texts in the file",
            path=report.path,
            fix="Set the label column" if unlabelled else "",
        )


def _opened(
    path: str | PathLike[str], options: TextOptions, report: Report
) -> tuple[str, str, Iterator[LabelledRow]]:
    """Return the format, the reason for it, and an iterator over the rows."""
    given = None if options.format == "auto" else options.format
    for name, known in TEXT_FORMATS.items():
        if known.read_folder and (
            given == name or (given is None and known.is_folder and known.is_folder(Path(path)))
        ):
            reason = "as given" if given else known.description
            return name, reason, known.read_folder(Path(path), options, report)
    content = lines(path)
    head = list(islice(content, 1))
    if not head:
        raise InputError("the file is empty", path=report.path)
    kind, reason = (given, "as given") if given else _detected(report.path, head[0][1], options)
    read = TEXT_FORMATS[kind].read
    assert read is not None  # folders are handled above
    return kind, reason, read(chain(head, content), options, report)


def _detected(path: str, first: str, options: TextOptions) -> tuple[str, str]:
    """Return the format and the reason for it, from the suffix or else the first line."""
    suffixes = [suffix for suffix in Path(path).suffixes if suffix not in (".gz", ".xz")]
    for name, known in TEXT_FORMATS.items():
        if suffixes and suffixes[-1] in known.suffixes:
            return name, f"by the suffix {suffixes[-1]}"
    found = ((name, known.recognise(first, options)) for name, known in TEXT_FORMATS.items())
    return next((name, reason) for name, reason in found if reason is not None)


class LabelledSource:
    """A file with its options that can be iterated repeatedly. ``report`` is from the latest pass."""

    def __init__(self, path: str | PathLike[str], options: TextOptions | None = None) -> None:
        self.path = path
        self.options = options or TextOptions()
        self.report = Report(path=display(path))
        self._passes = Passes(path)

    def __iter__(self) -> Iterator[LabelledText]:
        self._passes.begin()
        self.report = Report(path=display(self.path))
        return read_texts(self.path, self.options, self.report)

    def with_options(self, **changes: Any) -> LabelledSource:
        """Return the same file with some options changed."""
        view = LabelledSource(self.path, replace(self.options, **changes))
        view._passes = self._passes
        return view
