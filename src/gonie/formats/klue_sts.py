"""The semantic similarity file of KLUE: pairs of sentences with a value from 0 to 5.

    [{"guid": "klue-sts-v1_dev_00000", "sentence1": "방이 넓어요.", "sentence2": "방이 큽니다.",
      "labels": {"label": 4.2, "real-label": 4.166666666666667, "binary-label": 1}}, …]

The columns are ``sentence1``, ``sentence2``, ``value`` (the label), ``real-label`` and ``binary-label``.
The same columns can be in JSONL, Parquet and Arrow files, as on the Hugging Face hub.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from gonie.errors import InputError
from gonie.formats.content import Content, FileHead
from gonie.formats.format import PairFormat, Row, TableRows
from gonie.formats.json_list import write_objects
from gonie.formats.nested_tables import peek_rows, read_rows
from gonie.text.labelled_text import LabelledPair, PairOptions
from gonie.text.report import Report

TEXTS = ("sentence1", "sentence2")
VALUES = {"label": "value", "real-label": "real-label", "binary-label": "binary-label"}
"""Keys under ``labels``, and the names of their columns."""


def _read(content: Content, options: PairOptions, report: Report) -> TableRows:
    table = read_rows(content, report)
    names = [name for name in table.names if name != "labels"]
    return TableRows(table.line, [*names, *VALUES.values()], _rows(table.rows, options, report))


def _rows(rows: Iterable[Row], options: PairOptions, report: Report) -> Iterator[Row]:
    for line, row in rows:
        labels = row.get("labels")
        if isinstance(labels, dict):
            yield line, {**row, **{name: labels.get(key) for key, name in VALUES.items()}}
        elif options.gold:
            raise InputError("no object with the values under 'labels'", path=report.path, line=line)
        else:
            yield line, row


def _write(pairs: Iterable[LabelledPair]) -> Iterator[str]:
    return write_objects(_record(number, pair) for number, pair in enumerate(pairs))


def _record(number: int, pair: LabelledPair) -> dict[str, Any]:
    if pair.value is None:
        raise InputError(
            "klue-sts stores pairs with a value",
            path=pair.path or None,
            line=pair.line,
            fix="Write jsonl instead",
        )
    texts = dict(zip(TEXTS, (pair.first, pair.second), strict=True))
    labels = {"label": pair.value, "real-label": pair.value, "binary-label": int(pair.value >= 3)}
    return {"guid": f"gonie-sts_{number:05d}", **texts, "labels": labels}


def _recognise(head: FileHead) -> str | None:
    first = peek_rows(head)
    labels = None if first is None else first.row.get("labels")
    if first is None or not isinstance(labels, dict) or not set(TEXTS) <= set(first.row):
        return None
    fits = {"label", "real-label"} <= set(labels)
    return "it has the columns sentence1, sentence2 and a label and real-label" if fits else None


PAIRS = (
    PairFormat(
        name="klue-sts",
        description="KLUE's similarity: pairs of sentences with values",
        read=_read,
        write=_write,
        recognise=_recognise,
        has_ids=True,
        rank=1,
    ),
)
