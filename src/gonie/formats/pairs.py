"""Pairs of texts with a label or a value, as TSV, CSV or JSONL. Columns are found by their names.

Known names of the two texts are ``text`` and ``text_pair``, SNLI's ``premise`` and ``hypothesis``, and the
``sentence1`` and ``sentence2`` of STS and GLUE. The gold answer is a label (``label``, ``gold_label``) or a
number (``value``, ``score``). Other columns are ignored. Pairs on whose label the annotators of SNLI did not
agree (``-``) are skipped and counted.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, islice
from os import PathLike
from pathlib import Path
from typing import Any, NamedTuple

from gonie.errors import InputError
from gonie.formats.jsonl import read_record
from gonie.formats.labelled_tables import Fields, read_csv_rows, read_tab_rows
from gonie.system.files import Line, Passes, display, is_utf8, lines
from gonie.text.report import Report

PAIR_FORMATS = ("tsv", "csv", "jsonl")
SUFFIXES = {".tsv": "tsv", ".csv": "csv", ".jsonl": "jsonl", ".ndjson": "jsonl"}
TEXTS = (("text", "text_pair"), ("premise", "hypothesis"), ("sentence1", "sentence2"))
"""The names of the two text columns that are known."""
LABELS, VALUES = ("label", "gold_label"), ("value", "score")
"""The known names of a column of labels, and of a column of numbers."""
NO_LABEL = "-"


@dataclass(frozen=True, slots=True)
class LabelledPair:
    """Two texts and their gold answer: a label, or a value on a scale. Both are missing if it is unknown."""

    first: str
    second: str
    labels: tuple[str, ...] = ()
    value: float | None = None
    path: str = ""
    line: int = 0

    @property
    def text(self) -> str:
        """Both texts, one below the other, as messages and reports show a pair."""
        return f"{self.first}\n{self.second}"


class ColumnWords(NamedTuple):
    """Words for messages about the columns of the two texts, and about the column of the gold answer."""

    texts: str
    gold: str


IN_TRAINING = ColumnWords(
    """--set 'data.text_columns=["A", "B"]'""",
    "--set data.label_column=NAME, or --set data.value_column=NAME for numbers",
)
"""How training names columns."""
ASKED = ColumnWords("as asked", "as asked")


@dataclass(frozen=True, slots=True, kw_only=True)
class PairOptions:
    """Options for reading a file of pairs. Columns that are not set are detected and reported.

    ``texts`` are the columns, or JSON keys, of the two texts. ``label`` or ``value`` is the column of the
    gold answer. Without ``gold``, answers are not read. ``reasons`` say why columns are set, and ``advice``
    says how the current command names columns.
    """

    format: str = "auto"
    texts: tuple[str, str] | None = None
    label: str | None = None
    value: str | None = None
    gold: bool = True
    reasons: ColumnWords = ASKED
    advice: ColumnWords = IN_TRAINING


class PairColumns(NamedTuple):
    """The columns of a file that are read. At most one of ``label`` and ``value`` is set."""

    first: str
    second: str
    label: str | None
    value: str | None


Record = tuple[int, Mapping[str, Any]]
"""The line on which a row begins, and its cells by column."""


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
        header, rows = _records(self.path, self.options, self.report)
        self.columns = find_columns(header, self.options, self.report)
        yield from self._pairs(rows, self.columns)
        if not self.report.pairs:
            raise InputError("no pairs in the file", path=self.report.path)

    def _pairs(self, rows: Iterable[Record], columns: PairColumns) -> Iterator[LabelledPair]:
        report = self.report
        for line, record in rows:
            first, second = (_text(record, name, report.path, line) for name in columns[:2])
            if not (first.strip() and second.strip()):
                report.skipped["pairs with an empty text"] += 1
                continue
            label = None if columns.label is None else _label(record, columns.label, report.path, line)
            if label == NO_LABEL:
                report.skipped[f"pairs without a gold label ({NO_LABEL})"] += 1
                continue
            value = None if columns.value is None else _value(record, columns.value, report.path, line)
            report.pairs += 1
            yield LabelledPair(first, second, () if label is None else (label,), value, report.path, line)


def find_columns(header: Fields, options: PairOptions, report: Report) -> PairColumns:
    """Return the columns of the two texts and of the gold answer, as set or by their known names."""
    line, names = header
    listed = ", ".join(map(_shortened, names))
    texts = next((pair for pair in [options.texts, *TEXTS] if pair and set(pair) <= set(names)), None)
    if texts is None or (options.texts is not None and texts != options.texts):
        wanted = " and ".join(options.texts) if options.texts else " or ".join(map(" and ".join, TEXTS))
        raise InputError(
            f"no columns {wanted} for the two texts; the columns are {listed}",
            path=report.path,
            line=line,
            fix=_rename("columns", "them", options.advice.texts),
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
            fix=_rename("column", "it", options.advice.gold),
        )
    is_label = bool(options.label) or (not options.value and found in LABELS)
    report.choose("labels" if is_label else "values", found, options.reasons.gold if asked else "by its name")
    return PairColumns(*texts, found if is_label else None, None if is_label else found)


def _rename(columns: str, pronoun: str, advice: str) -> str:
    return f"Rename the {columns}" + (f", or name {pronoun}: {advice}" if advice else "")


def _records(
    path: str | PathLike[str], options: PairOptions, report: Report
) -> tuple[Fields, Iterator[Record]]:
    """Return the names of the columns with their line, and the rows as mappings from column to cell."""
    content = lines(path)
    head = list(islice(content, 1))
    if not head:
        raise InputError("the file is empty", path=report.path)
    kind, reason = _format(report.path, head[0][1], options)
    report.choose("format", kind, reason)
    rows = chain(head, content)
    if kind == "jsonl":
        objects = _objects(rows, report)
        first = next(objects, None)
        if first is None:
            raise InputError("no pairs in the file", path=report.path)
        return (first[0], list(first[1])), chain([first], objects)
    return _table(read_tab_rows(rows, report) if kind == "tsv" else read_csv_rows(rows, report), report)


def _format(path: str, first: str, options: PairOptions) -> tuple[str, str]:
    """Return the format and the reason for it."""
    if options.format != "auto":
        if options.format not in PAIR_FORMATS:
            raise InputError(
                f"unknown format of pairs: {options.format!r}", fix=f"Use {', '.join(PAIR_FORMATS)} or auto"
            )
        return options.format, "as asked"
    suffixes = [suffix for suffix in Path(path).suffixes if suffix in SUFFIXES]
    if suffixes:
        return SUFFIXES[suffixes[-1]], f"by the suffix {suffixes[-1]}"
    if first.lstrip().startswith("{"):
        return "jsonl", "the first line is a JSON object"
    return ("tsv", "tabs in the first line") if "\t" in first else ("csv", "no other format fits")


def _objects(rows: Iterable[Line], report: Report) -> Iterator[Record]:
    for number, line in rows:
        if not line or line.isspace():
            report.skipped["empty lines"] += 1
            continue
        yield number, read_record(line, report.path, number, keys=())


def _table(rows: Iterator[Fields], report: Report) -> tuple[Fields, Iterator[Record]]:
    """Return the header of a table, and the rows below it."""
    line, names = next(rows, (1, ()))
    if len(set(names)) < len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise InputError(f"two columns are called {twice!r}", path=report.path, line=line, fix="Rename one")
    return (line, names), _below(names, rows, report)


def _below(names: Sequence[str], rows: Iterator[Fields], report: Report) -> Iterator[Record]:
    for line, fields in rows:
        if len(fields) != len(names):
            raise InputError(
                f"expected {len(names)} columns, as in the header, got {len(fields)}",
                path=report.path,
                line=line,
                fix="A tab, or an unquoted comma, inside a text ends a column",
            )
        yield line, dict(zip(names, fields, strict=True))


def _text(record: Mapping[str, Any], name: str, path: str, line: int) -> str:
    value = record.get(name)
    if not isinstance(value, str) or not is_utf8(value):
        raise InputError(f"no text under {name!r}: {_shortened(value)}", path=path, line=line)
    return value


def _label(record: Mapping[str, Any], name: str, path: str, line: int) -> str:
    value = record.get(name)
    if isinstance(value, bool | int):
        return str(value).lower()
    if not isinstance(value, str) or not value.strip() or not is_utf8(value):
        raise InputError(
            f"no label under {name!r}: {_shortened(value)}",
            path=path,
            line=line,
            fix="Label the pair or remove it",
        )
    return value.strip()


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
