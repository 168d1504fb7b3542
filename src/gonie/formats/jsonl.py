"""JSONL with character spans: one text per line, its entities by offset.

    {"text": "George is happy", "spans": [{"start": 0, "end": 6, "label": "PER"}]}

``entities`` is accepted for ``spans``, and ``[start, end, label]`` for a span. Without either key the gold is
unknown. The text is split by a tokenizer, or the record gives its tokens: ``"tokens": [{"start": 0, "end": 6,
"tag": "PROPN"}, …]``.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Any

from gonie.errors import InputError
from gonie.formats.format import TaggedFormat
from gonie.system.files import Line, is_utf8
from gonie.text.alignment import CharSpan, align
from gonie.text.report import Misaligned, Report
from gonie.text.schemes import IOB2, Scheme, from_spans, to_spans
from gonie.text.types import Candidate, Document, Morpheme, Sentence, Span, Token

Tokenizer = Callable[[str], list[Sentence]]


def read(rows: Iterable[Line], *, report: Report, tokenizer: Tokenizer | None = None) -> Iterator[Sentence]:
    """Yield the sentences of each text, tagged in IOB2.

    Gold spans that are not on token boundaries, cross a sentence end or overlap go to ``report.misaligned``.
    """
    for number, line in rows:
        if line and not line.isspace():
            record = read_record(line, report.path, number)
            for sentence in _tagged(record, tokenizer, number, report):
                report.sentences += 1
                report.tokens += len(sentence)
                report.rows = (number,) * len(sentence)
                yield sentence


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


def _tagged(
    record: Mapping[str, Any], tokenizer: Tokenizer | None, number: int, report: Report
) -> Iterator[Sentence]:
    """Yield the sentences of one record, with tags if the gold is known."""
    text: str = record["text"]
    path = report.path
    sentences = _sentences(record, tokenizer, path, number)
    if not sentences:
        report.skipped["texts without tokens"] += 1
    spans = _spans(record, path, number)
    if spans is None:
        yield from sentences
        return
    alignment = align(text, [sentence.offsets() for sentence in sentences], spans)
    for item in alignment.refused:
        start, end, label = item.span
        report.misaligned.append(Misaligned(path, number, start, end, text[start:end], label, item.reason))
    for sentence, own in zip(sentences, alignment.spans, strict=True):
        yield replace(sentence, tags=tuple(from_spans(own, len(sentence), IOB2)))


def _sentences(
    record: Mapping[str, Any], tokenizer: Tokenizer | None, path: str, number: int
) -> list[Sentence]:
    if "tokens" in record:
        return _given(record["tokens"], record["text"], path, number)
    if tokenizer is None:
        raise InputError(
            "raw text requires a tokenizer",
            path=path,
            line=number,
            fix="Choose the language and the token unit",
        )
    return [replace(sentence, path=path, line=number) for sentence in tokenizer(record["text"])]


def _given(tokens: Any, text: str, path: str, number: int) -> list[Sentence]:
    """Return one sentence from the tokens that the record gives."""
    places = [_place(token, text, path, number) for token in _listed(tokens, "tokens", path, number)]
    if not places:
        return []
    if any(after[0] < before[1] for before, after in pairwise(places)):
        raise InputError("tokens overlap or are out of order", path=path, line=number)
    tags = [token.get("tag") if isinstance(token, dict) else None for token in tokens]
    return [
        Sentence(
            words=tuple(text[start:end] for start, end in places),
            tags=None if None in tags else tuple(map(str, tags)),
            text=text,
            starts=tuple(start for start, _ in places),
            ends=tuple(end for _, end in places),
            path=path,
            line=number,
        )
    ]


def _spans(record: Mapping[str, Any], path: str, number: int) -> list[CharSpan] | None:
    """Return the gold spans of a record, or None if it does not have them."""
    key = "spans" if "spans" in record else "entities"
    if key not in record:
        return None
    spans = []
    for value in _listed(record[key], key, path, number):
        label = value.get("label") if isinstance(value, dict) else value[2] if _is_row(value, 3) else None
        if not isinstance(label, str) or not label:
            raise InputError(
                f"invalid span: {json.dumps(value, ensure_ascii=False)}",
                path=path,
                line=number,
                fix='Write {"start": …, "end": …, "label": …} or [start, end, label]',
            )
        spans.append((*_place(value, record["text"], path, number), label))
    return spans


def _listed(values: Any, key: str, path: str, number: int) -> list[Any]:
    if not isinstance(values, list):
        raise InputError(
            f"expected a list under {key!r}, got {type(values).__name__}", path=path, line=number
        )
    return values


def _is_row(value: Any, length: int) -> bool:
    return isinstance(value, list) and len(value) >= length


def _place(value: Any, text: str, path: str, number: int) -> tuple[int, int]:
    """Return the start and end of a span or token, which must lie in the text."""
    start, end = None, None
    if isinstance(value, dict):
        start, end = value.get("start"), value.get("end")
    elif _is_row(value, 2):
        start, end = value[:2]
    # type() and not isinstance: true is an int in Python.
    if type(start) is int and type(end) is int and 0 <= start < end <= len(text):
        return start, end
    raise InputError(
        f"invalid character offsets: {json.dumps(value, ensure_ascii=False)}",
        path=path,
        line=number,
        fix=f"Count characters, not bytes: 0 <= start < end <= {len(text)}",
    )


# --- writing ---------------------------------------------------------------------------------------------


def write(sentences: Iterable[Sentence], *, scheme: Scheme = IOB2) -> Iterator[str]:
    """Yield one JSON line per text. Sentences of the same text are joined to one record.

    Entities are written to ``spans``. Plain labels are written to ``tokens``, with offsets.
    """
    held: list[Sentence] = []
    for sentence in sentences:
        if held and not _same_text(held[-1], sentence):
            yield _line(sentence_record(held, scheme=scheme))
            held = []
        held.append(sentence)
    if held:
        yield _line(sentence_record(held, scheme=scheme))


def _line(record: Mapping[str, Any]) -> str:
    return json.dumps(record, ensure_ascii=False) + "\n"


def _same_text(before: Sentence, after: Sentence) -> bool:
    return (
        before.text is not None
        and (before.text, before.path, before.line) == (after.text, after.path, after.line)
        and bool(before.ends and after.starts)
        and before.ends[-1] <= after.starts[0]
    )


def sentence_record(sentences: Sequence[Sentence], *, scheme: Scheme = IOB2) -> dict[str, Any]:
    """Return the JSON object of sentences that share one text."""
    record: dict[str, Any] = {"text": sentences[0].surface}
    if any(sentence.tags is None for sentence in sentences):
        return record
    if not scheme.has_spans:
        record["tokens"] = [token for sentence in sentences for token in _tokens(sentence)]
        return record
    record["spans"] = [
        {"start": start, "end": end, "label": label}
        for sentence in sentences
        for start, end, label in char_spans(sentence, scheme)
    ]
    return record


def _tokens(sentence: Sentence) -> Iterator[dict[str, Any]]:
    for (start, end), tag in zip(sentence.offsets(), sentence.tags or (), strict=True):
        yield {"start": start, "end": end, "tag": tag}


def char_spans(sentence: Sentence, scheme: Scheme) -> list[CharSpan]:
    """Return the entities of a tagged sentence as character spans of its ``surface``."""
    offsets = sentence.offsets()
    return [
        (offsets[start][0], offsets[end - 1][1], label)
        for start, end, label in to_spans(sentence.tags or (), scheme)
    ]


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


_OBJECT = re.compile(r'\s*\{\s*["}]')


def recognise_object(lines: Sequence[str]) -> str | None:
    """Return why these first lines are JSONL, or None."""
    return "the first line is a JSON object" if lines and _OBJECT.match(lines[0]) else None


TAGGED = TaggedFormat(
    name="jsonl",
    description="one JSON object per line: a text and its character spans",
    read=lambda rows, options, report: read(rows, report=report, tokenizer=options.tokenizer),
    write=lambda sentences, scheme: write(sentences, scheme=scheme),
    suffixes=(".jsonl", ".ndjson"),
    recognise=recognise_object,
    rank=0,
)
