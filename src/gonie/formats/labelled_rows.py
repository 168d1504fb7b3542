"""Labelled texts in the rows of any table: a column with the text, and one or more with its labels.

    {"text": "what a film", "label": "positive"}
    {"text": "fast, but loud", "labels": ["speed", "noise"]}

A label is a string, an integer or a boolean. A list of them is several labels. Several label columns hold 0
or 1 each: whether the text has the label that is the name of the column. Other columns are ignored.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple

from gonie.errors import InputError
from gonie.formats.content import ID, Content, FileHead, id_of
from gonie.formats.format import HeaderNames, LabelledFormat, RowFormat, TableRows
from gonie.formats.meta import row_meta
from gonie.formats.pair_rows import TEXTS as PAIR_TEXTS
from gonie.system.files import is_utf8
from gonie.text.labelled_text import (
    LabelledRow,
    LabelledText,
    TextOptions,
    check_unlabelled,
    split_labels,
)
from gonie.text.marks import with_marks
from gonie.text.report import Report

TEXT, LABEL = "text", "label"
"""The usual names of the two columns, and the default options."""
TEXTS = (TEXT, "sentence", "document", "content", "review", "comment", "question", "utterance", "title")
"""Columns that are read if there is no column ``text``, unless another one is named."""
LABELS = (LABEL, "labels", "category", "class", "intent", "sentiment", "topic", "target")
"""Columns that are read if there is no column ``label``, unless another one is named."""
_DOUBTFUL = {
    "-1": "which Hugging Face datasets write for none",
    **dict.fromkeys(
        ("NA", "N/A", "n/a", "None", "none"),
        "which is read as a label; if it means that there is none, map it to O (data.map)",
    ),
}
"""Labels that may stand for a missing one, and what the report says about them."""
_YES, _NO = ("1", "1.0", "true"), ("0", "0.0", "false", "", "nan", "none", "null")


class TextColumns(NamedTuple):
    """The columns of the text and of its labels. There are several label columns if each is one label."""

    text: str
    labels: tuple[str, ...]


def labelled_format(rows: RowFormat) -> LabelledFormat:
    """Return the format of labelled texts in a form of table."""
    return LabelledFormat(
        name=rows.name,
        description=rows.description,
        read=partial(_read, rows),
        write=lambda texts: rows.write(_records(texts)),
        suffixes=rows.suffixes,
        recognise=partial(_recognise, rows),
        rank=rows.rank,
        keeps_ids=True,
    )


def _read(form: RowFormat, content: Content, options: TextOptions, report: Report) -> Iterator[LabelledRow]:
    """Yield the text and the labels of each row."""
    rows = form.read(content, _header(options), report)
    if not rows.names:
        return
    columns = find_columns(rows, options, report)
    known = {"", ID, columns.text, *columns.labels, *(f"{name}s" for name in columns.labels), *options.meta}
    if others := [name for name in rows.names if name not in known]:
        report.choose("ignored columns", ", ".join(others)[:200], "neither the text nor its labels")
    for line, row in rows.rows:
        text = _text(row, columns.text, report.path, line)
        labels = _labels(row, columns.labels, options, report.path, line) if text.strip() else ()
        if labels and labels[0] in _DOUBTFUL and len(labels) == 1:
            report.noticed[f"texts with the label {labels[0]}, {_DOUBTFUL[labels[0]]}"] += 1
        name = id_of(row) if ID not in columns.labels else None
        meta = row_meta(row, options.meta, report, (columns.text,))
        yield LabelledRow(line, text, labels, name, meta)


def find_columns(rows: TableRows, options: TextOptions, report: Report) -> TextColumns:
    """Return the columns of the text and of the labels, as named or by their usual names."""
    text = _find(rows, options.text_column, TEXTS, "text", report)
    if options.label_column is None:
        return TextColumns(text, ())
    if isinstance(options.label_column, str):
        return TextColumns(text, (_find(rows, options.label_column, LABELS, "label", report),))
    missing = [name for name in options.label_column if name not in rows.names]
    if missing:
        raise _no_column(rows, missing[0], "label", report)
    return TextColumns(text, tuple(options.label_column))


def _find(rows: TableRows, wanted: str, others: Sequence[str], option: str, report: Report) -> str:
    """Return the wanted column or, if the usual one is wanted and missing, another one that is known."""
    if wanted in rows.names:
        return wanted
    found = [name for name in others if name in rows.names] if wanted == others[0] else []
    if len(found) == 1:
        report.choose(f"{option} column", found[0], f"by its name; there is no column {wanted}")
        return found[0]
    raise _no_column(rows, wanted, option, report)


def _no_column(rows: TableRows, wanted: str, option: str, report: Report) -> InputError:
    return InputError(
        f"no column {wanted}; the columns are {_shortened(', '.join(rows.names))}",
        path=report.path,
        line=rows.line,
        fix=f"Name the column of the {option}: --{option} NAME"
        + ("" if {*TEXTS, *LABELS} & set(rows.names) else ". Without a header, give its number, from 0"),
    )


def _header(options: TextOptions) -> HeaderNames:
    """Return the names of columns that can be read, and those of a table without a header.

    A column with another name can only be in a header.
    """
    labels = options.label_column or ()
    named = (options.text_column, *([labels] if isinstance(labels, str) else labels))
    usual = all(name in (TEXT, LABEL) or name.isdigit() for name in named)
    return HeaderNames((*TEXTS, *LABELS), named if usual else ())


def _text(row: Mapping[str, Any], column: str, path: str, line: int) -> str:
    value = row.get(column)
    if _is_missing(value):
        return ""
    if not isinstance(value, str):
        found = json.dumps(value, ensure_ascii=False, default=str)
        raise InputError(f"expected a text under {column!r}, got {_shortened(found)}", path=path, line=line)
    if not is_utf8(value):
        raise InputError(f"lone surrogate in the text under {column!r}", path=path, line=line)
    return value


def _labels(
    row: Mapping[str, Any], columns: Sequence[str], options: TextOptions, path: str, line: int
) -> tuple[str, ...] | None:
    if not columns:
        return ()
    if not isinstance(options.label_column, str):
        return tuple(name for name in columns if _is_set(row.get(name), name, path, line))
    value = row.get(columns[0])
    value = row.get(f"{columns[0]}s") if value is None else value
    if isinstance(value, str) and is_utf8(value):
        return split_labels(value, options, path=path, line=line)
    if _is_missing(value):
        check_unlabelled(options, path=path, line=line)
        return None
    if isinstance(value, list) and all(map(_is_label, value)):
        return tuple(dict.fromkeys(map(_named, value)))
    if _is_label(value):
        return (_named(value),)
    raise InputError(
        f"invalid label: {json.dumps(value, ensure_ascii=False, default=str)[:200]}",
        path=path,
        line=line,
        fix="A label is a non-empty string, an integer, a boolean, or a list of them. Name another column "
        "with --label NAME (in a recipe data.label_column)",
    )


def _is_set(value: object, name: str, path: str, line: int) -> bool:
    """Return whether a column of 0 and 1 says that a text has its label."""
    shown = str("" if value is None else value).strip().lower()
    if shown in _YES or shown in _NO:
        return shown in _YES
    raise InputError(
        f"expected 0 or 1 in the column {name}, got {_shortened(str(value))}",
        path=path,
        line=line,
        fix="Each of several label columns is one label. For one column of labels, name only that one",
    )


def _is_missing(value: object) -> bool:
    """Return whether a value stands for no text or no label: null or NaN."""
    return value is None or (isinstance(value, float) and math.isnan(value))


def _is_label(value: object) -> bool:
    if isinstance(value, float):
        return value.is_integer()
    return isinstance(value, int) or (isinstance(value, str) and bool(value.strip()) and is_utf8(value))


def _named(value: Any) -> str:
    if isinstance(value, str):
        return value.strip()
    return str(int(value)) if isinstance(value, float) else json.dumps(value)


def _recognise(form: RowFormat, head: FileHead) -> str | None:
    """Return why the first row of a file is a labelled text, or None."""
    sample = form.peek(head)
    if sample is None:
        return None
    named, labels = head.columns[:1], head.columns[1:]
    text = next((name for name in (*named, *TEXTS) if isinstance(sample.get(name), str)), None)
    others = [name for name in (*labels, *LABELS) if name in sample and name != text]
    gold = [name for name in others if _may_label(sample[name])]
    is_pair = any(set(names) <= set(sample) for names in PAIR_TEXTS)
    if text is None or not gold or (is_pair and set(named) <= {TEXT}):
        return None if set(sample) & {*TEXTS, *LABELS} else form.unheaded(head)
    return f"it has the columns {text} and {gold[0]}"


def _may_label(value: object) -> bool:
    """Return whether a value is a label, valid or not, or a list of them, and not a list of spans or tags."""
    return all(map(_is_label, value)) if isinstance(value, list) else True


def _records(texts: Iterable[LabelledText]) -> Iterator[dict[str, Any]]:
    """Yield a row for each text. Marked parts are written with their marks."""
    for each in texts:
        text = with_marks(each.text, each.marks)
        named = {} if each.id is None else {ID: each.id}
        single = len(each.labels) == 1
        gold = {LABEL: each.labels[0]} if single else {"labels": list(each.labels)}
        yield {**named, TEXT: text, **gold}


def _shortened(text: str, most: int = 200) -> str:
    return repr(text if len(text) <= most else text[:most] + "…")
