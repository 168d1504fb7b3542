"""JSONL: one JSON object per line, as a table whose columns are the keys, and as the output of models."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain
from typing import Any

from gonie.errors import InputError
from gonie.formats.content import Content, FileHead
from gonie.formats.format import HeaderNames, RowFormat, TableRows
from gonie.system.files import Line, is_utf8
from gonie.text.report import Report
from gonie.text.types import Candidate, Document, Morpheme, Span, Token


def _read(content: Content, header: HeaderNames, report: Report) -> TableRows:
    """Return the objects. The columns are the keys of the first of them, and those in the first lines."""
    objects = json_objects(content.lines, report)
    first = next(objects, None)
    if first is None:
        return TableRows(1, (), iter(()))
    seen = json_objects(enumerate(content.head.lines, 1), Report(path=report.path), lenient=True)
    names = dict.fromkeys(name for _, record in chain([first], seen) for name in record)
    return TableRows(first[0], list(names), chain([first], objects))


def json_objects(
    lines: Iterable[Line], report: Report, *, lenient: bool = False
) -> Iterator[tuple[int, Mapping[str, Any]]]:
    """Yield the object of each line. If ``lenient``, an invalid line ends them."""
    for number, line in lines:
        if not line or line.isspace():
            report.skipped["empty lines"] += 1
            continue
        try:
            yield number, read_record(line, report.path, number, keys=())
        except InputError:
            if lenient:
                return
            raise


def read_record(line: str, path: str, number: int, *, keys: Sequence[str] = ("text",)) -> dict[str, Any]:
    """Return the JSON object of one line. It must have a text under each of ``keys``."""
    try:
        record = json.loads(line)
    except (ValueError, RecursionError) as error:  # ValueError also for a number with too many digits
        raise InputError(f"invalid JSON object: {error}", path=path, line=number) from None
    if not isinstance(record, dict):
        raise InputError(f"expected a JSON object, got {type(record).__name__}", path=path, line=number)
    for key in keys:
        if key not in record:
            keys_here = ", ".join(map(repr, record)) or "none"
            raise InputError(f"no key {key!r}", path=path, line=number, fix=f"The object's keys: {keys_here}")
        if not isinstance(record[key], str):
            found_type = type(record[key]).__name__
            raise InputError(f"expected a string under {key!r}, got {found_type}", path=path, line=number)
        if not is_utf8(record[key]):
            raise InputError(f"lone surrogate in the text under {key!r}", path=path, line=number)
    found: dict[str, Any] = record
    return found


def json_line(record: Mapping[str, Any]) -> str:
    r"""Return a record as one line. A lone surrogate, which UTF-8 cannot encode, is escaped as ``\uXXXX``."""
    line = json.dumps(record, ensure_ascii=False)
    return (line if is_utf8(line) else json.dumps(record)) + "\n"


def document_record(document: Document, *, tokens: bool = False) -> dict[str, Any]:
    """Return the JSON object of a tagged document, with its tokens and their tags if ``tokens``.

    It includes the n-best tag sequences if the document has them.
    """
    record: dict[str, Any] = {"text": document.text, "spans": [*map(_span_record, document.spans)]}
    if tokens:
        record["tokens"] = [*map(_token_record, document.tokens)]
    if document.nbest is not None:
        record["nbest"] = [[*map(_candidate_record, own)] for own in document.nbest]
    return record


def _span_record(span: Span) -> dict[str, Any]:
    known = {"start": span.start, "end": span.end, "label": span.label, "text": span.text}
    return known if span.score is None else known | {"score": span.score}


def _candidate_record(candidate: Candidate) -> dict[str, Any]:
    spans = [*map(_span_record, candidate.spans)]
    return {"score": candidate.probability, "tags": list(candidate.tags), "spans": spans}


def _token_record(token: Token) -> dict[str, Any]:
    """Return a token without unknown fields. The code is written out for speed."""
    known: dict[str, Any] = {"start": token.start, "end": token.end, "text": token.text}
    if token.tag is not None:
        known["tag"] = token.tag
    if token.score is not None:
        known["score"] = token.score
    return known | _analyses(token.morphemes) if token.morphemes else known


def _analyses(morphemes: tuple[Morpheme, ...]) -> dict[str, Any]:
    """Return the morphemes of an analysed Korean token: 했 is 하/VV and 었/EP."""
    return {"morphemes": [{"form": m.form, "tag": m.tag} for m in morphemes]}


def _peek(head: FileHead) -> Mapping[str, Any] | None:
    return head.record


ROWS = (
    RowFormat(
        name="jsonl",
        description="one JSON object per line",
        suffixes=(".jsonl", ".ndjson"),
        peek=_peek,
        read=_read,
        write=lambda rows: map(json_line, rows),
    ),
)
