"""Reading files of text pairs, with format detection and a report.

The formats are in ``table``. Pairs without a label are skipped and counted. SNLI writes ``-`` where its
annotators did not agree, and the Hugging Face hub -1.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from os import PathLike
from typing import Any, NamedTuple
from unicodedata import normalize

from gonie.errors import InputError
from gonie.formats.content import open_content
from gonie.formats.detect import choose
from gonie.formats.format import Row, TableRows
from gonie.formats.meta import checked_meta, row_meta
from gonie.formats.pair_rows import LABELS, TEXTS, VALUES
from gonie.formats.table import PAIR_FORMATS
from gonie.system.files import Passes, display, is_utf8
from gonie.text.labelled_text import LabelledPair, PairOptions
from gonie.text.report import Report
from gonie.text.schemes import OUTSIDE

NO_LABELS = ("", "-", "-1")
UNLABELLED = "pairs without a gold label"


class PairColumns(NamedTuple):
    """The columns of a file that are read. At most one of ``label`` and ``value`` is set."""

    first: str
    second: str
    label: str | None
    value: str | None


class PairSource:
    """A file of pairs that can be read repeatedly. ``report`` and ``columns`` are from the latest pass."""

    def __init__(self, path: str | PathLike[str], options: PairOptions | None = None) -> None:
        self.path = path
        self.options = options or PairOptions()
        self.report = Report(path=display(path))
        self.columns: PairColumns | None = None
        self._passes = Passes(path)

    def __iter__(self) -> Iterator[LabelledPair]:
        self._passes.begin()
        self.report = Report(path=display(self.path))
        named = [*(self.options.texts or ()), self.options.label, self.options.value]
        content = open_content(self.path, columns=[name for name in named if name])
        format, reason = choose(content, PAIR_FORMATS, self.options.format)
        self.report.choose("format", format.name, reason)
        table = format.read(content, self.options, self.report)
        if table.names:
            self.columns = find_columns(table, self.options, self.report)
            pairs = self._pairs(table.rows, self.columns)
            meta = self.options.meta
            yield from checked_meta(pairs, meta, self.report) if meta else pairs
        if not self.report.pairs:
            unlabelled = self.report.skipped[UNLABELLED]
            raise InputError(
                "no pair has a gold label" if unlabelled else "no pairs in the file", path=self.report.path
            )

    def _pairs(self, rows: Iterable[Row], columns: PairColumns) -> Iterator[LabelledPair]:
        report, renamed = self.report, self.options.map
        for line, record in rows:
            first, second = (_text(record, name, report.path, line) for name in columns[:2])
            if not (first.strip() and second.strip()):
                report.skipped["pairs with an empty text"] += 1
                continue
            label = None if columns.label is None else _label(record, columns.label, report.path, line)
            if label in NO_LABELS:
                report.skipped[UNLABELLED] += 1
                continue
            if label is not None and label in renamed and (label := renamed[label]) == OUTSIDE:
                report.skipped["pairs whose label the map drops"] += 1
                continue
            value = None if columns.value is None else _value(record, columns.value, report.path, line)
            report.pairs += 1
            meta = row_meta(record, self.options.meta, report, columns[:2])
            labels = () if label is None else (label,)
            yield LabelledPair(first, second, labels, value, report.path, line, meta)


def find_columns(table: TableRows, options: PairOptions, report: Report) -> PairColumns:
    """Return the columns of the two texts and of the gold answer, as set or by their known names."""
    line, names = table.line, table.names
    listed = ", ".join(map(_shortened, names))
    texts = next((pair for pair in [options.texts, *TEXTS] if pair and set(pair) <= set(names)), None)
    if texts is None or (options.texts is not None and texts != options.texts):
        wanted = " and ".join(options.texts) if options.texts else " or ".join(map(" and ".join, TEXTS))
        raise InputError(
            f"no columns {wanted} for the two texts; the columns are {listed}",
            path=report.path,
            line=line,
            fix=_rename(options.advice.texts, many=True),
        )
    report.choose("texts", " and ".join(texts), options.reasons.texts if options.texts else "by their names")
    if not options.gold:
        return PairColumns(*texts, None, None)
    asked = options.label or options.value
    found = next((name for name in ([asked] if asked else [*LABELS, *VALUES]) if name in names), None)
    if found is None:
        raise InputError(
            f"no column {asked or ', '.join([*LABELS, *VALUES])} with the gold answer; the columns are "
            f"{listed}",
            path=report.path,
            line=line,
            fix=_rename(options.advice.gold, many=False),
        )
    is_label = bool(options.label) or (not options.value and found in LABELS)
    report.choose("labels" if is_label else "values", found, options.reasons.gold if asked else "by its name")
    return PairColumns(*texts, found if is_label else None, None if is_label else found)


def _rename(advice: str, *, many: bool) -> str:
    """Return what to do about one column or many that are not there."""
    if advice:
        return f"Rename the column{'s' if many else ''}, or name {'them' if many else 'it'}: {advice}"
    return f"Rename the column{'s' if many else ''}"


def _text(record: Mapping[str, Any], name: str, path: str, line: int) -> str:
    value = record.get(name)
    if not isinstance(value, str) or not is_utf8(value):
        raise InputError(f"no text under {name!r}: {_shortened(value)}", path=path, line=line)
    return value


def _label(record: Mapping[str, Any], name: str, path: str, line: int) -> str:
    """Return the label of a row, or nothing if it is missing."""
    value = record.get(name)
    if value is None:
        return ""
    if isinstance(value, bool | int):
        return str(value).lower()
    if not isinstance(value, str) or not is_utf8(value):
        raise InputError(f"invalid label under {name!r}: {_shortened(value)}", path=path, line=line)
    return normalize("NFC", value.strip())  # a decomposed file has the same labels


def _value(record: Mapping[str, Any], name: str, path: str, line: int) -> float:
    value = record.get(name)
    try:
        number = float(value) if isinstance(value, str | int | float) else math.nan
    except (ValueError, OverflowError):
        number = math.nan
    if not math.isfinite(number) or isinstance(value, bool):
        raise InputError(
            f"not a number under {name!r}: {_shortened(value)}",
            path=path,
            line=line,
            fix="Correct the number or remove the pair",
        )
    return number


def _shortened(value: object, most: int = 60) -> str:
    shown = repr(value)
    return shown if len(shown) <= most else f"{shown[:most]}…"
