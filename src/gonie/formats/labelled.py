"""Reading files of labelled texts, with format detection and a report.

The formats are in ``table``.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from os import PathLike
from typing import Any
from unicodedata import normalize

from gonie.errors import InputError
from gonie.formats.content import open_content
from gonie.formats.detect import choose
from gonie.formats.meta import checked_meta
from gonie.formats.table import TEXT_FORMATS
from gonie.system.files import Passes, display
from gonie.text.label_map import LabelMap
from gonie.text.labelled_text import LabelledText, TextOptions
from gonie.text.marks import cut_marks
from gonie.text.report import Report

EMPTY = "rows with an empty text"
UNLABELLED = "texts without a label"
DROPPED = "texts whose label the map drops"


def read_texts(path: str | PathLike[str], options: TextOptions, report: Report) -> Iterator[LabelledText]:
    """Yield the texts of a file as it is read. ``report`` is complete after the last one.

    Empty texts and texts without a label are skipped and counted. A file without any text is refused.
    """
    texts = _read_texts(path, options, report)
    return checked_meta(texts, options.meta, report) if options.meta else texts


def _read_texts(path: str | PathLike[str], options: TextOptions, report: Report) -> Iterator[LabelledText]:
    report.path = display(path)
    content = open_content(path, columns=_named(options))
    format, reason = choose(content, TEXT_FORMATS, options.format)
    report.choose("format", format.name, reason)
    if options.label_column is None:
        report.choose("labels", "none", "not requested")
    names, renamed = options.marks or format.marks, LabelMap(options.map)
    for line, raw, given, name, meta in format.read(content, options, report):
        text, marks = cut_marks(raw, names, path=report.path, line=line)
        if not text.strip():
            report.skipped[EMPTY] += 1
            continue
        if given is None:
            report.skipped[UNLABELLED] += 1
            continue
        composed = tuple(normalize("NFC", label) for label in given)  # so that decomposed files have the same
        labels = renamed.of_text(composed) if renamed else composed
        if given and not labels and not options.multi_label:
            report.skipped[DROPPED] += 1
            continue
        report.texts += 1
        yield LabelledText(text, labels, marks, report.path, line, name, meta)
    if not report.texts:
        unlabelled = report.skipped[UNLABELLED]
        raise InputError(
            f"no text has a label under {options.label_column!r}" if unlabelled else "no texts in the file",
            path=report.path,
            fix="Name the column of the labels: --label NAME (in a recipe data.label_column)"
            if unlabelled
            else "",
        )


def _named(options: TextOptions) -> list[str]:
    """Return the columns of the options."""
    labels = options.label_column or ()
    return [options.text_column, *([labels] if isinstance(labels, str) else labels)]


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
