"""Tagged sentences in the rows of any table with nested cells (JSONL, JSON, Parquet, Arrow).

    {"text": "George is happy", "spans": [{"start": 0, "end": 6, "label": "PER"}]}
    {"tokens": ["George", "is", "happy"], "ner_tags": ["B-PER", "O", "O"]}

``entities`` is accepted for ``spans``, ``[start, end, label]`` for a span, and doccano's ``label`` or
``labels`` if it is a list of spans. Without any of these keys the gold is unknown. The text is split by a
tokenizer, or the row gives its tokens: ``"tokens": [{"start": 0, "end": 6, "tag": "PROPN"}, …]``. Words
with their tags are one sentence per row, as in Hugging Face datasets. Null and -1 stand for missing tags.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import zip_longest
from typing import Any

from gonie.errors import InputError
from gonie.formats.content import ID, Content, FileHead, id_of
from gonie.formats.format import HeaderNames, ReadOptions, Row, RowFormat, TaggedFormat
from gonie.formats.jsonl import json_type
from gonie.formats.klue import character_sentence
from gonie.formats.meta import NO_VALUES, row_meta
from gonie.formats.spans import (
    AnnotatedText,
    char_spans,
    check_span,
    tagged_sentences,
    texts_of,
    with_own_ids,
)
from gonie.system.files import is_utf8
from gonie.text.alignment import CharSpan, locate
from gonie.text.report import Report
from gonie.text.schemes import IOB2, Scheme
from gonie.text.types import Sentence

TEXT = "text"
SPANS = ("spans", "entities", "ents")
SPAN_LABELS = ("label", "labels")
"""Keys under which doccano has spans. In other files they have labels of the text."""
WORDS = ("tokens", "words")
TAGS = ("ner_tags", "tags", "labels", "pos_tags", "upos", "chunk_tags")
"""Columns of tags beside a column of words, in the order of preference."""


def tagged_format(rows: RowFormat) -> TaggedFormat:
    """Return the format of tagged sentences in a form of table."""
    return TaggedFormat(
        name=rows.name,
        description=rows.description,
        read=partial(_read, rows),
        write=lambda sentences, scheme: rows.write(_records(sentences, scheme)),
        suffixes=rows.suffixes,
        recognise=partial(_recognise, rows),
        rank=rows.rank,
        keeps_ids=True,
        stores_texts=True,
        stores_all_spans=True,
    )


def _read(form: RowFormat, content: Content, options: ReadOptions, report: Report) -> Iterator[Sentence]:
    """Yield the sentences of each row."""
    rows = form.read(content, HeaderNames(), report)
    if options.columns:
        raise InputError(
            f"the columns {', '.join(options.columns)} are set by number, which only conll files have",
            path=report.path,
            fix="Remove data.columns",
        )
    tags = _tag_column(rows.names, options, report)
    for line, row in rows.rows:
        words = next((row[name] for name in WORDS if _is_words(row.get(name))), None)
        if words is not None:
            yield from _word_row((line, row), words, tags, options, report)
        else:
            text = annotated(row, report.path, line, row_meta(row, options.meta, report))
            yield from tagged_sentences([text], options.tokenizer, report)


# --- rows of words and tags ------------------------------------------------------------------------------


def _is_words(value: object) -> bool:
    return isinstance(value, list) and all(isinstance(word, str) for word in value)


def _tag_column(names: Sequence[str], options: ReadOptions, report: Report) -> str | None:
    """Return the column of the tags of words, if there is one."""
    if isinstance(options.tag_column, str):
        if options.tag_column not in names:
            raise InputError(
                f"no column {options.tag_column!r}; the columns are {', '.join(names)}",
                path=report.path,
                fix="Choose one of them with --tag-column NAME (in a recipe data.tag_column)",
            )
        return options.tag_column
    found = [name for name in TAGS if name in names] if set(WORDS) & set(names) else []
    if found:
        others = f"the first of {', '.join(found)}" if len(found) > 1 else "by its name"
        report.choose("tag column", found[0], others)
    return found[0] if found else None


def _word_row(
    placed: Row, words: Sequence[str], column: str | None, options: ReadOptions, report: Report
) -> Iterator[Sentence]:
    """Yield the sentence of a row of words, with tags if the row has them.

    Characters including spaces, as in KLUE's named entities on the Hugging Face hub, are read as in a KLUE
    file.
    """
    line, row = placed
    tags = None if column is None else _tags((line, row), column, options, report)
    if tags is not None and len(tags) != len(words):
        raise InputError(
            f"expected as many tags as words, got {len(words)} words and {len(tags)} tags",
            path=report.path,
            line=line,
        )
    if "" in words or not all(map(is_utf8, words)):
        raise InputError("empty or invalid word", path=report.path, line=line)
    if tags is not None and any(map(str.isspace, words)) and all(len(word) == 1 for word in words):
        rows = list(zip(words, tags, strict=True))
        found = character_sentence(rows, (line,) * len(rows), report, options.repair)
        meta = row_meta(row, options.meta, report)
        yield from (replace(sentence, id=id_of(row), meta=meta) for sentence in found)
        return
    text = row.get(TEXT)
    places = locate(text, words) if isinstance(text, str) else None
    report.sentences += 1
    report.tokens += len(words)
    report.rows = (line,) * len(words)
    yield Sentence(
        words=tuple(words),
        tags=None if tags is None else tuple(tags),
        text=text if places else None,
        starts=places[0] if places else (),
        ends=places[1] if places else (),
        path=report.path,
        line=line,
        id=id_of(row),
        meta=row_meta(row, options.meta, report),
    )


def _tags(placed: Row, column: str, options: ReadOptions, report: Report) -> list[str] | None:
    """Return the tags of a cell: strings, or numbers of ``options.tag_names``. None if they are missing."""
    line, row = placed
    values = row.get(column)
    if values is None or (isinstance(values, list) and values and all(map(_is_missing, values))):
        return None
    if isinstance(values, list) and all(isinstance(value, str) and value for value in values):
        return list(values)
    if not isinstance(values, list) or not all(type(value) is int for value in values):
        raise InputError(
            f"expected a list of tags under {column!r}, got {_shown(values)}", path=report.path, line=line
        )
    return named_tags(values, options.tag_names, column=column, path=report.path, line=line)


def named_tags(
    numbers: Sequence[Any], names: Sequence[str], *, column: str, path: str, line: int | None = None
) -> list[str]:
    """Return the names of numbered tags."""
    unnamed = [each for each in numbers if type(each) is not int or not 0 <= each < len(names)]
    if unnamed:
        problem = f"has the tag {unnamed[0]!r}, but the names are of 0 to {len(names) - 1}"
        raise InputError(
            f"the column {column!r} {problem if names else 'has numbers without names'}",
            path=path,
            line=line,
            fix="List the names in order: --tag-names O,B-PER,I-PER (in a recipe data.tag_names)",
        )
    return [names[number] for number in numbers]


def _is_missing(tag: object) -> bool:
    """Return whether a tag says that there is none: null, or -1, which Hugging Face datasets write."""
    return tag is None or tag == -1


# --- rows of texts and spans -----------------------------------------------------------------------------


def annotated(
    row: Mapping[str, Any], path: str, line: int, meta: Mapping[str, str] = NO_VALUES
) -> AnnotatedText:
    """Return the text of a row with its spans, and its tokens if it has them."""
    text = row_text(row, TEXT, path, line)
    tokens = None
    tags = None
    if row.get("tokens") is not None:
        values = _listed(row["tokens"], "tokens", path, line)
        tokens = [_place(token, text, path, line) for token in values]
        found = [token.get("tag") if isinstance(token, dict) else None for token in values]
        tags = None if None in found else [str(tag) for tag in found]
    spans = _spans(row, text, path, line)
    return AnnotatedText(
        text=text, spans=spans, tokens=tokens, tags=tags, line=line, id=id_of(row), meta=meta
    )


def row_text(row: Mapping[str, Any], column: str, path: str, line: int) -> str:
    """Return the text of a row, which must be a string."""
    if column not in row:
        keys = ", ".join(map(repr, row)) or "none"
        raise InputError(f"no key {column!r}", path=path, line=line, fix=f"The object's keys: {keys}")
    text = row[column]
    if not isinstance(text, str):
        found = json_type(text)
        raise InputError(f"expected a string under {column!r}, got {found}", path=path, line=line)
    if not is_utf8(text):
        raise InputError(f"lone surrogate in the text under {column!r}", path=path, line=line)
    return text


def _spans(row: Mapping[str, Any], text: str, path: str, line: int) -> list[CharSpan] | None:
    """Return the gold spans of a row, or None if it does not have them."""
    given = [key for key in SPANS if row.get(key)]
    if len(given) > 1:
        raise InputError(
            f"spans under several keys: {', '.join(given)}", path=path, line=line, fix="Keep one of them"
        )
    key = next((key for key in SPANS if row.get(key) is not None), None)
    key = given[0] if given else key
    key = key or next((key for key in SPAN_LABELS if are_spans(row.get(key))), None)
    if key is None:
        return None
    spans = []
    for value in _listed(row[key], key, path, line):
        triple = isinstance(value, list) and len(value) == 3
        label = value.get("label") if isinstance(value, dict) else value[2] if triple else None
        if not isinstance(label, str) or not label:
            raise InputError(
                f"invalid span: {_shown(value)}",
                path=path,
                line=line,
                fix='Write {"start": …, "end": …, "label": …} or [start, end, label]',
            )
        spans.append((*_place(value, text, path, line), label))
    return spans


def are_spans(value: object) -> bool:
    """Return whether the value of a label key is a list of spans, which can be empty, and not of labels."""
    return isinstance(value, list) and all(isinstance(each, list | dict) for each in value)


def _listed(values: Any, key: str, path: str, line: int) -> list[Any]:
    if not isinstance(values, list):
        raise InputError(f"expected a list under {key!r}, got {json_type(values)}", path=path, line=line)
    return values


def _is_row(value: Any, length: int) -> bool:
    return isinstance(value, list) and len(value) >= length


def _place(value: Any, text: str, path: str, line: int) -> tuple[int, int]:
    """Return the start and end of a span or token, which must lie in the text."""
    if isinstance(value, dict):
        start, end = (value.get(key, value.get(f"{key}_offset")) for key in ("start", "end"))
        return check_span(start, end, text, path=path, line=line)
    start, end = value[:2] if _is_row(value, 2) else (value, None)
    return check_span(start, end, text, path=path, line=line)


def _shown(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, default=str)[:200]


# --- recognition and writing -----------------------------------------------------------------------------


def _recognise(form: RowFormat, head: FileHead) -> str | None:
    """Return why the first row of a file is a tagged sentence, or None."""
    row = form.peek(head)
    if row is None:
        return None
    words = next((name for name in WORDS if _is_words(row.get(name))), None)
    tags = [name for name in (*head.columns, *TAGS) if isinstance(row.get(name), list)]
    if words is not None and tags:
        return f"it has the columns {words} and {tags[0]}"
    spans = next((name for name in SPANS if isinstance(row.get(name), list)), None)
    if isinstance(row.get(TEXT), str) and (spans or isinstance(row.get("tokens"), list)):
        return f"it has a text and its {spans or 'tokens'}"
    return None


def _records(sentences: Iterable[Sentence], scheme: Scheme) -> Iterator[dict[str, Any]]:
    """Yield a row for each text that gonie split, and for each sentence whose words a file gave.

    A row cannot say where a sentence begins, so sentences of given words do not share a text.
    """
    for own in texts_of(sentences):
        if own[0].split:
            yield sentence_record(own, scheme=scheme)
        else:
            for sentence in with_own_ids(own):
                yield sentence_record([sentence if len(own) == 1 else own_text(sentence)], scheme=scheme)


def own_text(sentence: Sentence) -> Sentence:
    """Return the sentence with only its part of the text, which includes all its gold spans."""
    others = sentence.unreachable
    first = min((*sentence.starts[:1], *(span[0] for span in others)), default=0)
    last = max((*sentence.ends[-1:], *(span[1] for span in others)), default=0)
    return replace(
        sentence,
        text=sentence.surface[first:last],
        starts=tuple(start - first for start in sentence.starts),
        ends=tuple(end - first for end in sentence.ends),
        unreachable=tuple((start - first, end - first, label) for start, end, label in others),
    )


def sentence_record(sentences: Sequence[Sentence], *, scheme: Scheme = IOB2) -> dict[str, Any]:
    """Return the row of sentences that share one text.

    Entities are written to ``spans``. Plain labels are written to ``tokens``, with offsets. Words that a file
    gave are written to ``tokens`` too, because a tokenizer might split the text otherwise.
    """
    named = {} if sentences[0].id is None else {ID: sentences[0].id}
    record: dict[str, Any] = {**named, "text": sentences[0].surface}
    tagged = all(sentence.tags is not None for sentence in sentences)
    if not sentences[0].split or (tagged and not scheme.has_spans):
        record["tokens"] = [
            token for sentence in sentences for token in _tokens(sentence, tagged and not scheme.has_spans)
        ]
    if not tagged or not scheme.has_spans:
        return record
    record["spans"] = [
        {"start": start, "end": end, "label": label}
        for sentence in sentences
        for start, end, label in sorted({*char_spans(sentence, scheme), *sentence.unreachable})
    ]
    return record


def _tokens(sentence: Sentence, tagged: bool) -> Iterator[dict[str, Any]]:
    """Yield the offsets of the tokens, with their tags if ``tagged``."""
    tags = (sentence.tags if tagged else None) or ()
    offsets = sentence.offsets()
    for (_, end), (start, _), word in zip(offsets, offsets[1:], sentence.words, strict=False):
        if start < end:
            raise InputError(
                f"tables cannot store words that share characters, as of a multiword token: {word!r}",
                path=sentence.path or None,
                line=sentence.line,
                fix="Write conllu or conll instead",
            )
    for (start, end), tag in zip_longest(offsets, tags):
        yield {"start": start, "end": end} | ({} if tag is None else {"tag": tag})
