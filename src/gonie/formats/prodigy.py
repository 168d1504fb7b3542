"""The JSONL of Prodigy (``prodigy db-out``): entities, and labels of texts.

    {"text": "George is happy", "tokens": [{"text": "George", "start": 0, "end": 6, "id": 0}, …],
     "spans": [{"start": 0, "end": 6, "token_start": 0, "token_end": 0, "label": "PER"}],
     "_input_hash": 1, "answer": "accept"}
    {"text": "what a film", "label": "POSITIVE", "_input_hash": 2, "answer": "accept"}
    {"text": "fast, but loud", "options": [{"id": "speed"}, {"id": "noise"}], "accept": ["speed"],
     "_input_hash": 3, "answer": "accept"}

Only accepted answers are read. Records with the same ``_input_hash`` are answers about one text, which are
merged. Offsets are code points. Tokens are those of the file.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import Any

from gonie.errors import InputError
from gonie.formats.content import Content, FileHead
from gonie.formats.format import LabelledFormat, TaggedFormat
from gonie.formats.jsonl import json_line, json_objects
from gonie.formats.meta import row_meta
from gonie.formats.spans import AnnotatedText, annotated_texts, tagged_sentences
from gonie.formats.tagged_rows import annotated, row_text
from gonie.text.labelled_text import LabelledRow, LabelledText, TextOptions, check_unlabelled
from gonie.text.marks import with_marks
from gonie.text.report import Report
from gonie.text.schemes import Scheme
from gonie.text.types import Sentence

TEXT, LABEL, SPANS, TOKENS, ANSWER, HASH = "text", "label", "spans", "tokens", "answer", "_input_hash"
ACCEPT, REJECT, IGNORE = "accept", "reject", "ignore"
_OTHERS = {"relations": "relations", "arcs": "relations"}
_MERGED = "answers about the same text (merged)"
_BINARY = "answers about single entities (other words of the text are read as outside)"


def _accepted(content: Content, report: Report) -> Iterator[tuple[int, Mapping[str, Any]]]:
    """Yield the records whose answer is accept, and count the others."""
    for line, record in json_objects(content.lines, report):
        answer = record.get(ANSWER, ACCEPT)
        if answer in (REJECT, IGNORE):
            report.skipped[f"{answer.removesuffix('e')}ed answers"] += 1
        elif answer == ACCEPT:
            yield line, record
        else:
            raise InputError(
                f"unknown answer {answer!r}",
                path=report.path,
                line=line,
                fix="Write accept, reject or ignore",
            )


def _key(record: Mapping[str, Any], line: int) -> str:
    """Return what records about the same text share."""
    return repr(record[HASH]) if HASH in record else f"line {line}"


def _check_same(known: AnnotatedText | LabelledRow, own: AnnotatedText | LabelledRow, report: Report) -> None:
    """Refuse two texts with the same hash."""
    if known.text != own.text:
        raise InputError(
            f"not the text of line {known.line}, which has the same {HASH}", path=report.path, line=own.line
        )


# --- entities --------------------------------------------------------------------------------------------


def _annotated(content: Content, names: Collection[str], report: Report) -> Iterator[AnnotatedText]:
    """Return the texts with their entities, merged by their hashes."""
    found: dict[str, AnnotatedText] = {}
    for line, record in _accepted(content, report):
        if record.get("_view_id") == "ner":
            report.noticed[_BINARY] += 1
        for key, what in _OTHERS.items():
            if isinstance(record.get(key), list) and record[key]:
                report.skipped[what] += len(record[key])
        own = annotated(_plain(record), report.path, line, row_meta(record, names, report))
        key = _key(record, line)
        known = found.setdefault(key, own)
        if known is not own:
            found[key] = _merged(known, own, report)
    return iter(found.values())


def _plain(record: Mapping[str, Any]) -> dict[str, Any]:
    """Return a record without tokens of white space, which spaCy has, and without tags of tokens."""
    kept = {TEXT: record[TEXT]} if TEXT in record else dict(record)
    kept[SPANS] = record.get(SPANS) or []
    tokens = record.get(TOKENS)
    if isinstance(tokens, list):
        tokens = [
            {key: value for key, value in token.items() if key != "tag"} if isinstance(token, dict) else token
            for token in tokens
            if not (isinstance(token, dict) and str(token.get(TEXT, "x")).isspace())
        ]
    return kept | ({} if tokens is None else {TOKENS: tokens})


def _merged(known: AnnotatedText, own: AnnotatedText, report: Report) -> AnnotatedText:
    _check_same(known, own, report)
    report.noticed[_MERGED] += 1
    spans = dict.fromkeys([*(known.spans or ()), *(own.spans or ())])
    return AnnotatedText(
        text=known.text, spans=list(spans), tokens=known.tokens, line=known.line, meta=known.meta
    )


# --- labels of texts -------------------------------------------------------------------------------------


def _labelled(content: Content, options: TextOptions, report: Report) -> Iterator[LabelledRow]:
    """Return the texts with their labels, merged by their hashes."""
    found: dict[str, LabelledRow] = {}
    for line, record in _accepted(content, report):
        text = row_text(record, TEXT, report.path, line)
        labels = () if options.label_column is None else _labels(record, options, report.path, line)
        key = _key(record, line)
        own = LabelledRow(line, text, labels, meta=row_meta(record, options.meta, report))
        row = found.setdefault(key, own)
        if row is not own:
            _check_same(row, own, report)
            report.noticed[_MERGED] += 1
            merged = tuple(dict.fromkeys([*(row.labels or ()), *(labels or ())]))
            found[key] = row._replace(labels=merged or labels)
    return iter(found.values())


def _labels(record: Mapping[str, Any], options: TextOptions, path: str, line: int) -> tuple[str, ...] | None:
    """Return the chosen options of a record, or its label. It is None if it has neither."""
    chosen = record.get(ACCEPT, record.get(LABEL))
    if isinstance(chosen, list) and all(isinstance(each, str | int) for each in chosen):
        return tuple(dict.fromkeys(map(str, chosen)))
    if isinstance(chosen, str) and chosen.strip():
        return (chosen.strip(),)
    if chosen is None or chosen == "":
        check_unlabelled(options, path=path, line=line)
        return None
    raise InputError(f"invalid label: {chosen!r}", path=path, line=line, fix="A label is a string")


# --- recognition and writing -----------------------------------------------------------------------------


def _records(head: FileHead) -> list[Mapping[str, Any]]:
    """Return the first records of a file of Prodigy. There are none in other files."""
    first = head.record or {}
    own = HASH in first or first.get(ANSWER) in (ACCEPT, REJECT, IGNORE)
    return list(head.records) if own and isinstance(first.get(TEXT), str) else []


def _is_labelled(record: Mapping[str, Any]) -> bool:
    labelled = isinstance(record.get(LABEL), str) or isinstance(record.get(ACCEPT), list)
    return labelled and SPANS not in record


def _recognise_tagged(head: FileHead) -> str | None:
    records = _records(head)
    fits = records and not all(map(_is_labelled, records))
    return "answers of Prodigy" if fits else None


def _recognise_labelled(head: FileHead) -> str | None:
    fits = any(map(_is_labelled, _records(head)))
    return "answers of Prodigy with labels of texts" if fits else None


def _write_tagged(sentences: Iterable[Sentence], scheme: Scheme) -> Iterator[str]:
    for number, each in enumerate(annotated_texts(sentences, scheme, format="Prodigy"), 1):
        answer = IGNORE if each.spans is None else ACCEPT
        yield json_line({TEXT: each.text, **_tokenised(each), HASH: number, ANSWER: answer})


def _tokenised(each: AnnotatedText) -> dict[str, Any]:
    """Return the tokens and spans of a text. The last token of a span is inclusive."""
    places = each.tokens or ()
    after = [start for start, _ in places[1:]] + [len(each.text)]
    first = {start: index for index, (start, _) in enumerate(places)}
    last = {end: index for index, (_, end) in enumerate(places)}
    tokens = [
        {TEXT: each.text[start:end], "start": start, "end": end, "id": index, "ws": end < following}
        for index, ((start, end), following) in enumerate(zip(places, after, strict=True))
    ]
    spans = [
        {"start": start, "end": end, "token_start": first[start], "token_end": last[end], LABEL: label}
        for start, end, label in each.spans or ()
    ]
    return {TOKENS: tokens, SPANS: spans}


def _write_labelled(texts: Iterable[LabelledText]) -> Iterator[str]:
    for number, each in enumerate(texts, 1):
        text = with_marks(each.text, each.marks)
        single = len(each.labels) == 1
        gold = {LABEL: each.labels[0]} if single else {ACCEPT: list(each.labels)}
        yield json_line({TEXT: text, **gold, HASH: number, ANSWER: ACCEPT})


TAGGED = TaggedFormat(
    name="prodigy",
    description="Prodigy's JSONL with spans",
    read=lambda content, options, report: tagged_sentences(
        _annotated(content, options.meta, report), options.tokenizer, report
    ),
    write=_write_tagged,
    recognise=_recognise_tagged,
    has_ids=True,
    stores_texts=True,
)

LABELLED = (
    LabelledFormat(
        name="prodigy",
        description="Prodigy's JSONL with labels of texts",
        read=_labelled,
        write=_write_labelled,
        recognise=_recognise_labelled,
        has_ids=True,
    ),
)
